/* dlsym(handle, name): ask tidemark_route_dlsym where to go, then jump there as if we had never been called. */
        .text
        .globl  dlsym
        .globl  tidemark_dlsym_door
        .hidden tidemark_dlsym_door
        .type   dlsym, %function
        .hidden tidemark_route_dlsym
tidemark_dlsym_door:
dlsym:
        .cfi_startproc
        hint    #34                     /* bti c */
        stp     x0, x1, [sp, #-32]!
        .cfi_adjust_cfa_offset 32
        str     x30, [sp, #16]
        .cfi_rel_offset x30, 16
        bl      tidemark_route_dlsym
        mov     x16, x0                 /* x16: the register an indirect tail jump may use under BTI */
        ldr     x30, [sp, #16]
        .cfi_restore x30
        ldp     x0, x1, [sp], #32
        .cfi_adjust_cfa_offset -32
        br      x16
        .cfi_endproc
        .size   dlsym, .-dlsym
        .section .note.GNU-stack, "", %progbits
