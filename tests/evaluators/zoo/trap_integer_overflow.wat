;; divides the least integer by -1
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.extend_i32_s (i32.div_s (i32.const 0x80000000) (i32.sub (i32.const 0) (i32.const 1))))))
