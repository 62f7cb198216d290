/* dlsym(handle, name): ask tidemark_route_dlsym where to go, then jump there as if we had never been called. */
        .text
        .globl  dlsym
        .globl  tidemark_dlsym_door
        .hidden tidemark_dlsym_door
        .type   dlsym, @function
        .hidden tidemark_route_dlsym
tidemark_dlsym_door:
dlsym:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp                /* the stack is 16-byte aligned at a call */
        .cfi_adjust_cfa_offset 8
        call    tidemark_route_dlsym
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   dlsym, .-dlsym
        .section .note.GNU-stack, "", @progbits
