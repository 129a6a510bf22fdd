;; roman/1: decimal numbers as Roman numerals, and Roman numerals as decimal numbers, from 1 to 3999.
;;
;; The specification is ../README.md; the evaluators in Rust and C beside this one answer the same.
;;
;; Memory, one page:
;;     16  the letters of the decimal places from thousands to ones
;;     32  the messages
;;    512  the request: max_input_bytes, then the input at 516
;;    640  the response

(module
  (@custom "evalspan" (after last)
    "{\n"
    "  \"abi\": 1,\n"
    "  \"name\": \"roman\",\n"
    "  \"spec\": \"roman/1\",\n"
    "  \"request_bytes\": 68,\n"
    "  \"options\": [\n"
    "    {\"name\": \"max_input_bytes\", \"default\": 64, \"minimum\": 1, \"maximum\": 64}\n"
    "  ],\n"
    "  \"sample\": \"1994\"\n"
    "}\n")

  (memory (export "memory") 1 1)
  (global (export "evalspan_request") i32 (i32.const 512))

  ;; Place p (0 for thousands) has its letter for one at 16 + 2p, for five one byte before, for ten two bytes before.
  ;; What stands before M is 0, and 0 is no letter: thousands have neither five nor ten.
  (data (i32.const 16) "MDCLXVI")

  (data (i32.const 32) "expected a decimal number or a Roman numeral in capitals")            ;; 56 bytes
  (data (i32.const 96) "expected the end, after one number or one numeral in standard form")  ;; 66
  (data (i32.const 176) "write the number without leading zeros")                             ;; 38
  (data (i32.const 224) "Roman numerals go from 1 to 3999")                                   ;; 32
  (data (i32.const 256) "the input is longer than max_input_bytes")                           ;; 40

  ;; The bytes of the input. A module may have state: each evaluation has an instance of its own.
  (global $length (mut i32) (i32.const 0))

  ;; The byte of the input at an offset, and 0 behind its end, where callers look again.
  (func $at (param $at i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $at) (global.get $length))
      (then (i32.load8_u offset=516 (local.get $at)))
      (else (i32.const 0))))

  (func $is_digit (param $at i32) (result i32)
    (i32.lt_u (i32.sub (call $at (local.get $at)) (i32.const 0x30)) (i32.const 10)))

  ;; Whether the byte at an offset is the letter that stands at an address of the table. Neither a byte 0 nor the end
  ;; of the input is a letter.
  (func $is (param $at i32) (param $letter i32) (result i32)
    (local $byte i32)
    (local.set $byte (call $at (local.get $at)))
    (i32.and
      (i32.ne (local.get $byte) (i32.const 0))
      (i32.eq (local.get $byte) (i32.load8_u (local.get $letter)))))

  (func $after_space (param $at i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $byte (call $at (local.get $at)))
      (if (i32.or
            (i32.or
              (i32.eq (local.get $byte) (i32.const 0x20))
              (i32.eq (local.get $byte) (i32.const 0x0d)))
            (i32.or
              (i32.eq (local.get $byte) (i32.const 0x09))
              (i32.eq (local.get $byte) (i32.const 0x0a))))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $at))

  ;; What `evalspan_evaluate` returns for a response that ends before an address.
  (func $answer (param $end i32) (result i64)
    (i64.or
      (i64.shl
        (i64.extend_i32_u (i32.sub (local.get $end) (i32.const 640)))
        (i64.const 32))
      (i64.const 640)))

  (func $fail
    (param $code i32) (param $offset i32) (param $piece i32) (param $message i32) (param $bytes i32) (result i64)
    (i32.store8 (i32.const 640) (i32.const 2))
    (i32.store8 (i32.const 641) (local.get $code))
    (i32.store align=1 (i32.const 642) (local.get $offset))
    (i32.store8 (i32.const 646)
      (select (local.get $piece) (i32.const 32) (i32.lt_u (local.get $piece) (i32.const 32))))
    (memory.copy (i32.const 647) (local.get $message) (local.get $bytes))
    (call $answer (i32.add (i32.const 647) (local.get $bytes))))

  ;; A byte that cannot be there; it is quoted where it is ASCII.
  (func $unexpected (param $at i32) (param $message i32) (param $bytes i32) (result i64)
    (call $fail
      (i32.const 1)
      (local.get $at)
      (i32.and
        (i32.lt_u (local.get $at) (global.get $length))
        (i32.lt_u (call $at (local.get $at)) (i32.const 0x80)))
      (local.get $message)
      (local.get $bytes)))

  ;; The number at an offset, and the offset after it; beyond 3999 it is only known to be too large.
  (func $decimal (param $at i32) (result i32 i32)
    (local $number i32)
    (loop $next
      (if (call $is_digit (local.get $at))
        (then
          (local.set $number
            (i32.add
              (i32.mul (local.get $number) (i32.const 10))
              (i32.sub (call $at (local.get $at)) (i32.const 0x30))))
          (if (i32.gt_u (local.get $number) (i32.const 3999))
            (then (local.set $number (i32.const 4000))))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $number)
    (local.get $at))

  ;; The value of the longest numeral in standard form at an offset, and the offset after it.
  (func $roman (param $at i32) (result i32 i32)
    (local $number i32) (local $digit i32) (local $ones i32) (local $one i32)
    (local.set $one (i32.const 16))
    (loop $place
      (local.set $digit (i32.const 0))
      (block $done
        (if (call $is (local.get $at) (local.get $one))
          (then
            ;; A one before a five makes four, before a ten nine.
            (if (call $is (i32.add (local.get $at) (i32.const 1)) (i32.sub (local.get $one) (i32.const 1)))
              (then (local.set $digit (i32.const 4))))
            (if (call $is (i32.add (local.get $at) (i32.const 1)) (i32.sub (local.get $one) (i32.const 2)))
              (then (local.set $digit (i32.const 9))))
            (if (local.get $digit)
              (then
                (local.set $at (i32.add (local.get $at) (i32.const 2)))
                (br $done))))
          (else
            (if (call $is (local.get $at) (i32.sub (local.get $one) (i32.const 1)))
              (then
                (local.set $digit (i32.const 5))
                (local.set $at (i32.add (local.get $at) (i32.const 1)))))))
        (local.set $ones (i32.const 3))
        (loop $next
          (br_if $done (i32.eqz (local.get $ones)))
          (br_if $done (i32.eqz (call $is (local.get $at) (local.get $one))))
          (local.set $digit (i32.add (local.get $digit) (i32.const 1)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (local.set $ones (i32.sub (local.get $ones) (i32.const 1)))
          (br $next)))
      (local.set $number (i32.add (i32.mul (local.get $number) (i32.const 10)) (local.get $digit)))
      (local.set $one (i32.add (local.get $one) (i32.const 2)))
      (br_if $place (i32.le_u (local.get $one) (i32.const 22))))
    (local.get $number)
    (local.get $at))

  ;; Byte 640 is 0: the value is exact. Digits are written from the last, so that their number must be known.
  (func $answer_decimal (param $number i32) (result i64)
    (local $end i32) (local $at i32)
    (local.set $end
      (i32.add
        (i32.const 642)
        (i32.add
          (i32.add
            (i32.gt_u (local.get $number) (i32.const 9))
            (i32.gt_u (local.get $number) (i32.const 99)))
          (i32.gt_u (local.get $number) (i32.const 999)))))
    (local.set $at (local.get $end))
    (loop $next
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at)
        (i32.add (i32.const 0x30) (i32.rem_u (local.get $number) (i32.const 10))))
      (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
      (br_if $next (local.get $number)))
    (call $answer (local.get $end)))

  ;; Writes the letter at an address of the table, and answers where the next one goes.
  (func $put (param $to i32) (param $letter i32) (result i32)
    (i32.store8 (local.get $to) (i32.load8_u (local.get $letter)))
    (i32.add (local.get $to) (i32.const 1)))

  (func $answer_roman (param $number i32) (result i64)
    (local $end i32) (local $digit i32) (local $value i32) (local $one i32)
    (local.set $end (i32.const 641))
    (local.set $value (i32.const 1000))
    (local.set $one (i32.const 16))
    (loop $place
      (local.set $digit
        (i32.rem_u (i32.div_u (local.get $number) (local.get $value)) (i32.const 10)))
      (if (i32.eq (i32.rem_u (local.get $digit) (i32.const 5)) (i32.const 4))
        (then
          (local.set $end (call $put (local.get $end) (local.get $one)))
          (local.set $end
            (call $put
              (local.get $end)
              (i32.sub
                (local.get $one)
                (select (i32.const 1) (i32.const 2) (i32.eq (local.get $digit) (i32.const 4)))))))
        (else
          (if (i32.ge_u (local.get $digit) (i32.const 5))
            (then
              (local.set $end (call $put (local.get $end) (i32.sub (local.get $one) (i32.const 1))))
              (local.set $digit (i32.sub (local.get $digit) (i32.const 5)))))
          (block $done
            (loop $next
              (br_if $done (i32.eqz (local.get $digit)))
              (local.set $end (call $put (local.get $end) (local.get $one)))
              (local.set $digit (i32.sub (local.get $digit) (i32.const 1)))
              (br $next)))))
      (local.set $one (i32.add (local.get $one) (i32.const 2)))
      (local.set $value (i32.div_u (local.get $value) (i32.const 10)))
      (br_if $place (local.get $value)))
    (call $answer (local.get $end)))

  ;; Evaluates the request, whose input has $bytes bytes.
  (func (export "evalspan_evaluate") (param $bytes i32) (result i64)
    (local $most i32) (local $start i32) (local $end i32) (local $rest i32) (local $number i32) (local $decimal i32)
    (global.set $length (local.get $bytes))
    (local.set $most (i32.load (i32.const 512)))
    (if (i32.gt_u (local.get $bytes) (local.get $most))
      (then (return (call $fail (i32.const 5) (local.get $most) (i32.const 0) (i32.const 256) (i32.const 40)))))

    (local.set $start (call $after_space (i32.const 0)))
    (local.set $decimal (call $is_digit (local.get $start)))
    (if (result i32 i32) (local.get $decimal)
      (then (call $decimal (local.get $start)))
      (else (call $roman (local.get $start))))
    (local.set $end)
    (local.set $number)

    (if (i32.eq (local.get $end) (local.get $start))
      (then (return (call $unexpected (local.get $start) (i32.const 32) (i32.const 56)))))
    ;; 0 and more digits
    (if (i32.and
          (i32.eq (call $at (local.get $start)) (i32.const 0x30))
          (i32.gt_u (i32.sub (local.get $end) (local.get $start)) (i32.const 1)))
      (then
        (return
          (call $fail
            (i32.const 1)
            (local.get $start)
            (i32.sub (local.get $end) (local.get $start))
            (i32.const 176)
            (i32.const 38)))))

    (local.set $rest (call $after_space (local.get $end)))
    (if (i32.lt_u (local.get $rest) (local.get $bytes))
      (then (return (call $unexpected (local.get $rest) (i32.const 96) (i32.const 66)))))

    (if (i32.eqz (local.get $decimal))
      (then (return (call $answer_decimal (local.get $number)))))
    (if (i32.gt_u (i32.sub (local.get $number) (i32.const 1)) (i32.const 3998)) ;; 0 wraps around
      (then
        (return
          (call $fail
            (i32.const 4)
            (local.get $start)
            (i32.sub (local.get $end) (local.get $start))
            (i32.const 224)
            (i32.const 32)))))
    (call $answer_roman (local.get $number)))
)
