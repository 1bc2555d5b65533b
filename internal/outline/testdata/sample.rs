//! doc
use std::{fmt, io};
#[derive(Debug)]
pub struct Foo<'a, T: Clone = u8> { x: &'a str, t: T }
pub struct Unit;
pub(crate) enum E { A, B(u8) }
impl<'a, T> fmt::Display for Foo<'a, T> where T: Clone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{}", '{') }
}
impl Foo<'_, u8> {
    pub const MAX: usize = 3;
    pub async unsafe fn go<F>(&self, f: F) -> u8 where F: Fn(u8) -> u8 { r#"}"#; 1 }
}
pub trait Tr { type Out; fn need(&self) -> u8; fn given(&self) {} }
mod inner { pub fn f() {} }
mod other;
macro_rules! m { ($x:expr) => { $x } }
const N: [u8; 2] = [1, 2];
static S: &str = "x";
type Alias = Vec<u8>;
extern "C" { fn c(x: i32); }
fn main() { let c = 'a'; let l: &'static str = ""; }
