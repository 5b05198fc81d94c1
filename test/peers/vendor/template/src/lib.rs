#![feature(register_tool, adt_const_params)]
#![register_tool(furiosa_opt)]
#![allow(unused, clippy::type_complexity)]
