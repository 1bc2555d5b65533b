package image

import "math"

// Scaling is Lanczos with three lobes, in two passes: rows first, then columns, with whole-number weights. Where a picture
// shrinks by more than about four, whole blocks of pixels are averaged before, as decoders do that read at a smaller scale;
// the rest, by about two, is what shows, and that is done in full.

// weights are the parts that pixels from..from+len(w) have in one pixel of the result; they sum up to 1<<shift.
type weights struct {
	from int
	w    []int32
}

const shift = 14

func lanczos(x float64) float64 {
	if x == 0 {
		return 1
	}
	if x < -3 || x > 3 {
		return 0
	}
	x *= math.Pi
	return 3 * math.Sin(x) * math.Sin(x/3) / (x * x)
}

// kernel returns the weights for n pixels out of the part [a, b) of size pixels.
func kernel(n, size int, a, b float64) []weights {
	scale := (b - a) / float64(n)
	width := max(scale, 1)
	out := make([]weights, n)
	f := make([]float64, 0, int(6*width)+3)
	for i := range out {
		center := a + (float64(i)+0.5)*scale - 0.5
		lo, hi := int(math.Ceil(center-3*width)), int(math.Floor(center+3*width))
		lo, hi = max(lo, 0), min(hi, size-1)
		if hi < lo {
			lo = min(max(int(math.Round(center)), 0), size-1)
			hi = lo
		}
		f = f[:0]
		sum := 0.0
		for k := lo; k <= hi; k++ {
			v := lanczos((float64(k) - center) / width)
			f = append(f, v)
			sum += v
		}
		if sum == 0 {
			f[0], sum = 1, 1
		}
		w := make([]int32, len(f))
		total, big := int32(0), 0
		for k, v := range f {
			w[k] = int32(math.Round(v / sum * (1 << shift)))
			total += w[k]
			if w[k] > w[big] {
				big = k
			}
		}
		w[big] += 1<<shift - total
		out[i] = weights{lo, w}
	}
	return out
}

func clamp(v int32) byte {
	v = (v + 1<<(shift-1)) >> shift
	if uint32(v) > 255 {
		if v < 0 {
			return 0
		}
		return 255
	}
	return byte(v)
}

func scalePlane(p plane, w, h int, from rect) plane {
	if w == p.w && h == p.h && from == (rect{0, 0, float64(p.w), float64(p.h)}) {
		return p
	}
	kx, ky := int((from.x1-from.x0)/float64(w)/1.9), int((from.y1-from.y0)/float64(h)/1.9)
	if kx, ky = max(kx, 1), max(ky, 1); kx > 1 || ky > 1 {
		p = shrink(p, kx, ky)
		from = rect{from.x0 / float64(kx), from.y0 / float64(ky), from.x1 / float64(kx), from.y1 / float64(ky)}
		from.x1, from.y1 = min(from.x1, float64(p.w)), min(from.y1, float64(p.h))
	}
	rows := kernel(h, p.h, from.y0, from.y1)
	cols := kernel(w, p.w, from.x0, from.x1)
	out := newPlane(w, h, p.n)
	parallel(h, func(a, b int) {
		line := make([]byte, p.w*p.n)
		acc := make([]int32, p.w*p.n)
		for y := a; y < b; y++ {
			mixRows(line, acc, &p, rows[y])
			mixColumns(out.pix[y*out.stride:(y+1)*out.stride], line, cols, p.n)
		}
	})
	return out
}

// mixRows adds up rows into one.
func mixRows(line []byte, acc []int32, p *plane, w weights) {
	clear(acc)
	for k, f := range w.w {
		if f == 0 {
			continue
		}
		src := p.pix[(w.from+k)*p.stride:][:len(acc)]
		for i, v := range src {
			acc[i] += int32(v) * f
		}
	}
	for i, v := range acc {
		line[i] = clamp(v)
	}
}

// mixColumns adds up pixels of a row.
func mixColumns(dst, line []byte, cols []weights, n int) {
	if n == 1 {
		for x, c := range cols {
			var v int32
			src := line[c.from:][:len(c.w)]
			for k, f := range c.w {
				v += int32(src[k]) * f
			}
			dst[x] = clamp(v)
		}
		return
	}
	for x, c := range cols {
		var r, g, b, a int32
		src := line[c.from*4:][:len(c.w)*4]
		for k, f := range c.w {
			r += int32(src[4*k]) * f
			g += int32(src[4*k+1]) * f
			b += int32(src[4*k+2]) * f
			a += int32(src[4*k+3]) * f
		}
		// Colours are premultiplied: none may be larger than the opacity.
		al := clamp(a)
		dst[4*x], dst[4*x+1], dst[4*x+2], dst[4*x+3] = min(clamp(r), al), min(clamp(g), al), min(clamp(b), al), al
	}
}

// shrink averages blocks of kx by ky pixels. The last row and column of blocks may be cut.
func shrink(p plane, kx, ky int) plane {
	w, h := (p.w+kx-1)/kx, (p.h+ky-1)/ky
	out := newPlane(w, h, p.n)
	parallel(h, func(from, to int) {
		acc := make([]uint32, p.w*p.n)
		for y := from; y < to; y++ {
			rows := min(ky, p.h-y*ky)
			if kx == 2 && rows == 2 && p.n == 1 {
				halve(out.pix[y*out.stride:], p.pix[2*y*p.stride:][:p.w], p.pix[(2*y+1)*p.stride:][:p.w])
				continue
			}
			clear(acc)
			for r := range rows {
				src := p.pix[(y*ky+r)*p.stride:][:len(acc)]
				for i, v := range src {
					acc[i] += uint32(v)
				}
			}
			for x := range w {
				cols := min(kx, p.w-x*kx)
				for c := range p.n {
					var v uint32
					for k := range cols {
						v += acc[(x*kx+k)*p.n+c]
					}
					n := uint32(rows * cols)
					out.pix[y*out.stride+x*p.n+c] = byte((v + n/2) / n)
				}
			}
		}
	})
	return out
}

// halve averages blocks of two by two.
func halve(dst, a, b []byte) {
	n := len(a) / 2
	b = b[:len(a)]
	for x := range n {
		dst[x] = byte((int(a[2*x]) + int(a[2*x+1]) + int(b[2*x]) + int(b[2*x+1]) + 2) >> 2)
	}
	if len(a)&1 == 1 {
		dst[n] = byte((int(a[2*n]) + int(b[2*n]) + 1) >> 1)
	}
}
