//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // No function recurses, so that the depth of a construct takes heap and not stack.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=4096");
        // One page holds all but an input of 64 levels with a text of many kilobytes, which takes a second one.
        println!("cargo:rustc-cdylib-link-arg=--initial-memory=65536");
        println!("cargo:rustc-cdylib-link-arg=--max-memory=131072");
    }
}
