//! Pages that show what commands print and what files hold.

/// The blocks of this kind of a page, as in "```text".
#[must_use]
pub fn blocks<'t>(page: &'t str, kind: &str) -> Vec<&'t str> {
    let open = format!("```{kind}\n");
    page.split(open.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

/// The commands of a page's `text` blocks, each with the lines that it prints there.
#[must_use]
pub fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let shown = blocks(page, "text").into_iter().filter_map(|block| {
        let mut lines = block.lines();
        let command = lines.next()?.strip_prefix("$ ")?;
        Some((command, lines.collect()))
    });
    shown.collect()
}

/// The words of a command; single quotes keep blanks, and `--name='value'` is one word.
#[must_use]
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut quoted, mut inside) = (Vec::new(), false, false);
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => inside = false,
            c => {
                if !inside {
                    words.push(String::new());
                    inside = true;
                }
                words.last_mut().expect("a word").push(c);
            }
        }
    }
    words
}

/// Whether `printed` is `shown`; a line `...` stands for any number of lines.
#[must_use]
pub fn shows(printed: &[&str], shown: &[&str]) -> bool {
    match shown {
        [] => printed.is_empty(),
        ["..."] => true,
        ["...", rest @ ..] => (0..printed.len()).any(|at| shows(&printed[at..], rest)),
        [line, rest @ ..] => printed.first() == Some(line) && shows(&printed[1..], rest),
    }
}
