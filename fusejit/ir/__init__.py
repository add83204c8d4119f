"""The intermediate representation: the data that passes between the stages.

The grammar of its printed form (`printer.print_graph`, `parser.parse_graph`). `[..]` in quotes is
a bracket of the text; `x?` is optional, `x*` repeats with commas, `x+` on lines.

    graph   ::= "graph" @name header+ "{" op+ "return" (%value | view)* "}"
    header  ::= "symbol" s0 "=" host                            an integer of the launcher
              | "guard" host "is" ("true" | "false") "reason"? loc?
              | "buffer" @name ":" type "=" host memory         an argument's memory
              | "scalar" %name ":" vtype "=" host               a number of the launcher
    host    ::= path | "size" "(" path, axis ")" | op "(" host* ")" | number | name
    path    ::= ("arg" | "global" | "closure" | "const" | "made") ":" name ( "." name | "[" key "]" ) ...

    op      ::= result ":" vtype loc?                           ": vtype" once per result
    result  ::= %r* "=" "generic" "name" "domain" "(" expr* ")" iters? ins outs call? kept? payload
              | %r  "=" "constant" number
              | %r  "=" "view" %source map                      r[i] = source[map(i)]
              | %r  "=" "load" @a v0 map?                       no map: all of the buffer
              | %r  "=" "reshape" %source reassoc               axes split or merged
              | "store" @a v1 ( map "(" expr* ")" )? "=" %value ( "mask" %m )?
              | "scatter" combine? @a v1 ( map "(" expr* ")" )? "at" "distinct"? "from_start"? "(" sub* ")" "=" %value
              | "assert" %condition "reason" ( "raises" "error" )?   false: NumPy runs the call, or
              |     ( "deferred" ( "index" ("(" expr ")" | %v) "axis" number "size" "(" expr ")" )?
              |       ( "integer" %v )? )?                       the kernel raises
              | "alloc" @t ":" type memory
              | "alias" @t ":" type "of" @a reassoc memory      @a with axes split or merged
              | "bind" i0 "=" %value                              an integer as a symbol of the block
              | %r* "=" "for" i0 "=" expr "to" expr "step" number "parallel"? carry? block
              | %r* "=" "while" carry? block "do" block         the first block yields one bool
              | %r* "=" "if" %p block "else" block
              | %r* "=" "host_call" "module.function" "(" %x* ")" ("as" "call")?
              |     ("with" "(" host* ")")? ("sizes" "(" s* ")")? ("errstate" "keywords")? "inline"?
              |     "effect"?
    iters   ::= "iterators" "(" ("parallel" | "reduction" | "sequential")* ")"   not if all parallel
    ins     ::= "ins" "(" ( %x map? )* ")"                      no map: the identity
    outs    ::= "outs" "(" ( ("write" | combiner) map? ("from" %start)? )* ")"
    sub     ::= "(" expr ")" | %integers map?                   an axis of the view: where
    call    ::= "library_call" "name"
    kept    ::= "unfused"? "materialized"? ("registers" "(" ((number | "_") "vector"?)* ")")?
    carry   ::= "carry" "(" ( %argument "=" %start ":" vtype )* ")"
    block   ::= "{" op+ ( "yield" %x* )? "}"
    view    ::= @a ( map "(" extent* ")" )?

    type    ::= ( expr "x" ) ... dtype                          s0 x (s1 - 1) x f64
    vtype   ::= type ("scalar" | "python")? order?              no kind: an array
    memory  ::= order? ( "layout" ("unit" | "strided") )? "class" number "readonly"?
    reassoc ::= ("expand" | "collapse") "[" ("[" axis* "]")* "]"   axes of the finer side
    order   ::= "order" "(" axis* ")"                           outermost to innermost axis
    map     ::= "[" "(" d0, d1, .. ")" "->" "(" expr* ")" "]"
    loc     ::= "loc" "file" ":" line ( "in" "function" )? ( "from" "file" ":" line .. )?

Payloads are described in `fusejit.ir.payload`, affine expressions in `fusejit.ir.affine`. `#`
starts a comment. For example::

    graph @mean_of_rows
      symbol s0 = size(arg:a, 0)
      symbol s1 = size(arg:a, 1)
      buffer @a : s0 x s1 x f64 = arg:a class 0 readonly
    {
      %a = load @a v0 : s0 x s1 x f64
      %0 = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%a) outs (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
      %1 = generic "divide" domain (s0) ins (%0) outs (write) { t0 = index (s1) : i64; t1 = cast t0 : f64; t2 = divide in0, t1 : f64; yield t2 } : s0 x f64
      return %1
    }
"""  # noqa: E501
