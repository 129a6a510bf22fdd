;; has typed references to functions
(module
  (type $f (func))
  (func $g (param (ref $f)) (call_ref $f (local.get 0)))
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x200000800)))
