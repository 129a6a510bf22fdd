;; counts its evaluations in a global
(module
  (global $n (mut i32) (i32.const 0))
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (global.set $n (i32.add (global.get $n) (i32.const 1)))
    (i32.store8 (i32.const 2049) (i32.add (i32.const 0x30) (global.get $n)))
    (i64.const 0x200000800)))
