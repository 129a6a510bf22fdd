;; calls a function its memory
(module
  (memory 1 2)
  (func (export "memory"))
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x200000800)))
