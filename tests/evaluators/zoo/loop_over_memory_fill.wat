;; never ends, in instructions that do much work each
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (loop
      (memory.fill (i32.const 0) (i32.const 255) (i32.const 65536))
      (br 0))
    (i64.const 0)))
