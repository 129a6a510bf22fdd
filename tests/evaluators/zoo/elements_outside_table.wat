;; has an element segment that ends outside its table
(module
  (table 1 funcref)
  (func $f)
  (elem (i32.const 1) $f)
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (i64.const 0x200000800)))
