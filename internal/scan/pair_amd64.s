#include "textflag.h"

// func pairAVX2(base *byte, n, d int, b1, b2, m1, m2 byte) int
//
// Two streams are compared, 64 positions a turn: base[p]|m1 with b1, and base[p+d]|m2 with b2. Positions where both are
// equal are candidates. The rest is done 32 at a time, the last 32 overlapping what was seen, so nothing beyond
// base[n+d-1] is read.
TEXT ·pairAVX2(SB), NOSPLIT, $0-40
	MOVQ base+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ d+16(FP), DX
	VPBROADCASTB b1+24(FP), Y0
	VPBROADCASTB b2+25(FP), Y1
	VPBROADCASTB m1+26(FP), Y2
	VPBROADCASTB m2+27(FP), Y3
	LEAQ (SI)(DX*1), DI
	XORQ AX, AX
	MOVQ CX, BX
	SUBQ $64, BX
	JL   rest

wide:
	VPOR     (SI)(AX*1), Y2, Y4
	VPOR     (DI)(AX*1), Y3, Y5
	VPOR     32(SI)(AX*1), Y2, Y6
	VPOR     32(DI)(AX*1), Y3, Y7
	VPCMPEQB Y4, Y0, Y4
	VPCMPEQB Y5, Y1, Y5
	VPCMPEQB Y6, Y0, Y6
	VPCMPEQB Y7, Y1, Y7
	VPAND    Y4, Y5, Y4
	VPAND    Y6, Y7, Y6
	VPOR     Y4, Y6, Y8
	VPTEST   Y8, Y8
	JNZ      foundWide
	ADDQ     $64, AX
	CMPQ     AX, BX
	JLE      wide

rest:
	CMPQ AX, CX
	JGE  none
	MOVQ CX, BX
	SUBQ $32, BX

narrow:
	CMPQ AX, BX
	JLE  inside
	MOVQ BX, AX

inside:
	VPOR      (SI)(AX*1), Y2, Y4
	VPOR      (DI)(AX*1), Y3, Y5
	VPCMPEQB  Y4, Y0, Y4
	VPCMPEQB  Y5, Y1, Y5
	VPAND     Y4, Y5, Y4
	VPMOVMSKB Y4, R8
	TESTL     R8, R8
	JNZ       foundNarrow
	ADDQ      $32, AX
	CMPQ      AX, CX
	JL        narrow

none:
	VZEROUPPER
	MOVQ $-1, ret+32(FP)
	RET

foundWide:
	VPMOVMSKB Y4, R8
	VPMOVMSKB Y6, R9
	SHLQ      $32, R9
	ORQ       R9, R8
	BSFQ      R8, R8
	ADDQ      R8, AX
	VZEROUPPER
	MOVQ      AX, ret+32(FP)
	RET

foundNarrow:
	BSFL R8, R8
	ADDQ R8, AX
	VZEROUPPER
	MOVQ AX, ret+32(FP)
	RET
