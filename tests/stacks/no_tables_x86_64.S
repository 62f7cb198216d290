# Calls by hand, with nothing that says how to walk them.
    .text
    .globl tidemark_call_with_fp
    .type tidemark_call_with_fp, @function
tidemark_call_with_fp:
    pushq %rbp
    movq %rsp, %rbp
    movq %rdi, %rax
    movq %rsi, %rdi
    subq $32, %rsp
    call *%rax
    leave
    ret
    .size tidemark_call_with_fp, . - tidemark_call_with_fp

    .globl tidemark_call_without_fp
    .type tidemark_call_without_fp, @function
tidemark_call_without_fp:
    movq %rdi, %rax
    movq %rsi, %rdi
    subq $40, %rsp
    call *%rax
    addq $40, %rsp
    ret
    .size tidemark_call_without_fp, . - tidemark_call_without_fp

    .globl tidemark_call_with_other_rbp
    .type tidemark_call_with_other_rbp, @function
tidemark_call_with_other_rbp:
    pushq %rbp
    movq %rdi, %rax
    movq %rsi, %rdi
    leaq 16(%rsp), %rbp
    call *%rax
    popq %rbp
    ret
    .size tidemark_call_with_other_rbp, . - tidemark_call_with_other_rbp
    .section .note.GNU-stack,"",@progbits
