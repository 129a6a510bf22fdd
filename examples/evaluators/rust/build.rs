//! The shape of the module's memory.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=manifest.json");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        // The linker's own choice, 1 MiB of stack, takes 17 pages of memory from the start. Enough here is what the
        // deepest call of `evaluate` needs; beyond it the module traps.
        println!("cargo:rustc-cdylib-link-arg=-zstack-size=32768");
        // 16 pages of 64 KiB, which evalspan's default policy allows.
        println!("cargo:rustc-cdylib-link-arg=--max-memory=1048576");
    }
}
