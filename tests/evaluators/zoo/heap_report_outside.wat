;; its heap report is outside memory
(module
  (global (export "evalspan_heap") i32 (i32.const -4))
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (drop (i32.load (i32.const -1)))
    (i64.const 0)))
