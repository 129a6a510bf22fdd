;; reports a heap that is not there, to have its memory kept
(module
  (global (export "evalspan_heap") i32 (i32.const 16))
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i32.store (i32.const 16) (i32.const -1))
    (i32.store8 (i32.const 2049) (i32.add (i32.const 0x30) (i32.load8_u (i32.const 60000))))
    (i32.store8 (i32.const 60000) (i32.const 1))
    (i64.const 0x200000800)))
