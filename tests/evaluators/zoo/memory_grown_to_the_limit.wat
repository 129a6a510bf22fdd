;; takes all the memory it gets, then traps
(module
  (memory (export "memory") 1)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (block
      (loop
        (br_if 1 (i32.eq (memory.grow (i32.const 1)) (i32.const -1)))
        (br 0)))
    unreachable))
