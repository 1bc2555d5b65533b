#include "textflag.h"

// func headAVX2(base *byte, n int, lo, width byte) int
//
// As pairAVX2, but the first byte is a line end, and the one behind it lies in a range: x-lo <= width, for which there is
// only the detour over the minimum.
TEXT ·headAVX2(SB), NOSPLIT, $0-32
	MOVQ base+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ $10, AX
	MOVQ AX, X0
	VPBROADCASTB X0, Y0
	VPBROADCASTB lo+16(FP), Y1
	VPBROADCASTB width+17(FP), Y2
	XORQ AX, AX
	MOVQ CX, BX
	SUBQ $64, BX
	JL   rest

wide:
	VPCMPEQB (SI)(AX*1), Y0, Y4
	VPCMPEQB 32(SI)(AX*1), Y0, Y6
	VMOVDQU  1(SI)(AX*1), Y5
	VMOVDQU  33(SI)(AX*1), Y7
	VPSUBB   Y1, Y5, Y5
	VPSUBB   Y1, Y7, Y7
	VPMINUB  Y2, Y5, Y8
	VPMINUB  Y2, Y7, Y9
	VPCMPEQB Y5, Y8, Y5
	VPCMPEQB Y7, Y9, Y7
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
	VPCMPEQB  (SI)(AX*1), Y0, Y4
	VMOVDQU   1(SI)(AX*1), Y5
	VPSUBB    Y1, Y5, Y5
	VPMINUB   Y2, Y5, Y8
	VPCMPEQB  Y5, Y8, Y5
	VPAND     Y4, Y5, Y4
	VPMOVMSKB Y4, R8
	TESTL     R8, R8
	JNZ       foundNarrow
	ADDQ      $32, AX
	CMPQ      AX, CX
	JL        narrow

none:
	VZEROUPPER
	MOVQ $-1, ret+24(FP)
	RET

foundWide:
	VPMOVMSKB Y4, R8
	VPMOVMSKB Y6, R9
	SHLQ      $32, R9
	ORQ       R9, R8
	BSFQ      R8, R8
	ADDQ      R8, AX
	VZEROUPPER
	MOVQ      AX, ret+24(FP)
	RET

foundNarrow:
	BSFL R8, R8
	ADDQ R8, AX
	VZEROUPPER
	MOVQ AX, ret+24(FP)
	RET
