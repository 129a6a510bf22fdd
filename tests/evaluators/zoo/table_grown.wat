;; grows its table as far as it goes
(module
  (table 1 funcref)
  (data (i32.const 2048) "\00k")
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (block
      (loop
        (br_if 1 (i32.eq (table.grow 0 (ref.null func) (i32.const 1000)) (i32.const -1)))
        (br 0)))
    (i32.store8 (i32.const 2049) (select (i32.const 0x79) (i32.const 0x6e) (i32.le_u (table.size 0) (i32.const 10000))))
    (i64.const 0x200000800)))
