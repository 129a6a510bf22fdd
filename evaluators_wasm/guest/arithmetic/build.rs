//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // Parser and machine keep their stacks on the heap: no input was seen to use more than 2.6 KB of
        // this one, in the recursion of the longest square roots; a trap at its end would be no answer.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=8192");
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=65536");
        println!("cargo:rustc-cdylib-link-arg=--max-memory=1048576");
    }
}
