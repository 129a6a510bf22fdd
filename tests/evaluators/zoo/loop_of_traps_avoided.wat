;; never ends, in floating point
(module
  (memory (export "memory") 1 2)
  (global (export "evalspan_request") i32 (i32.const 1024))
  (func (export "evalspan_evaluate") (param i32) (result i64)
    (loop
      (br_if 0 (i32.trunc_sat_f64_s (f64.div (f64.const 0) (f64.const 0))))
      (br 0))
    (i64.const 0)))
