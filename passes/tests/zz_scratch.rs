use std::time::Instant;
use visa_passes::canonical::*;
#[test]
fn times() {
    let set = RuleSet::default();
    for rule in set.rules() {
        let text = format!("rule zz-{}: {}", rule.name, rule.text);
        let start = Instant::now();
        let ok = RuleSet::with_user_rules(&text).is_ok();
        println!("{:8.1?} {} {}", start.elapsed(), ok, rule.name);
    }
}
