package image

import (
	"image"
	"image/draw"
	"math"
	"runtime"
	"sync"

	"github.com/tackle-dev/tackle/media"
)

// plane is one layer of a picture: n interleaved channels of 8 bits.
type plane struct {
	w, h, n, stride int
	pix             []byte
}

func newPlane(w, h, n int) plane { return plane{w, h, n, w * n, make([]byte, w*h*n)} }

// planes is a picture: one plane of gray (n=1) or premultiplied RGBA (n=4), or three planes Y, Cb, Cr, of which the last
// two may be smaller.
type planes struct {
	w, h  int
	p     []plane
	ratio image.YCbCrSubsampleRatio
}

func planesOf(m image.Image) planes {
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	switch m := m.(type) {
	case *image.YCbCr:
		cw, ch := chroma(w, h, m.SubsampleRatio)
		if b.Min == (image.Point{}) && m.SubsampleRatio != image.YCbCrSubsampleRatio411 && m.SubsampleRatio != image.YCbCrSubsampleRatio410 {
			return planes{w, h, []plane{{w, h, 1, m.YStride, m.Y}, {cw, ch, 1, m.CStride, m.Cb}, {cw, ch, 1, m.CStride, m.Cr}}, m.SubsampleRatio}
		}
	case *image.Gray:
		return planes{w: w, h: h, p: []plane{{w, h, 1, m.Stride, m.Pix[m.PixOffset(b.Min.X, b.Min.Y):]}}}
	case *image.RGBA:
		return planes{w: w, h: h, p: []plane{{w, h, 4, m.Stride, m.Pix[m.PixOffset(b.Min.X, b.Min.Y):]}}}
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), m, b.Min, draw.Src)
	return planes{w: w, h: h, p: []plane{{w, h, 4, out.Stride, out.Pix}}}
}

func chroma(w, h int, r image.YCbCrSubsampleRatio) (int, int) {
	switch r {
	case image.YCbCrSubsampleRatio420:
		return (w + 1) / 2, (h + 1) / 2
	case image.YCbCrSubsampleRatio422:
		return (w + 1) / 2, h
	case image.YCbCrSubsampleRatio440:
		return w, (h + 1) / 2
	}
	return w, h
}

func (p *planes) image() image.Image {
	r := image.Rect(0, 0, p.w, p.h)
	switch {
	case len(p.p) == 3:
		return &image.YCbCr{Y: p.p[0].pix, Cb: p.p[1].pix, Cr: p.p[2].pix, YStride: p.p[0].stride, CStride: p.p[1].stride, SubsampleRatio: p.ratio, Rect: r}
	case p.p[0].n == 1:
		return &image.Gray{Pix: p.p[0].pix, Stride: p.p[0].stride, Rect: r}
	}
	return &image.RGBA{Pix: p.p[0].pix, Stride: p.p[0].stride, Rect: r}
}

// rgba returns a picture as one plane of RGBA.
func (p *planes) rgba() planes {
	if p.p[0].n == 4 {
		return *p
	}
	out := image.NewRGBA(image.Rect(0, 0, p.w, p.h))
	draw.Draw(out, out.Bounds(), p.image(), image.Point{}, draw.Src)
	return planes{w: p.w, h: p.h, p: []plane{{p.w, p.h, 4, out.Stride, out.Pix}}}
}

// orient turns a picture as the camera was held, by the EXIF number of the orientation.
func orient(p planes, n int) planes {
	switch n {
	case 2:
		return p.flip(true, false)
	case 3:
		return p.rotate(180)
	case 4:
		return p.flip(false, true)
	case 5:
		p = p.rotate(90)
		return p.flip(true, false)
	case 6:
		return p.rotate(90)
	case 7:
		p = p.rotate(270)
		return p.flip(true, false)
	case 8:
		return p.rotate(270)
	}
	return p
}

func change(p planes, c media.Change, toJPEG bool, lim media.Limits) (planes, error) {
	switch c.Op {
	case "rotate":
		return p.rotate(c.Degrees), nil
	case "flip":
		return p.flip(c.Axis != "vertical", c.Axis != "horizontal"), nil
	case "resize":
		return p.resize(c, toJPEG, lim)
	}
	return p, nil
}

func (p *planes) flip(x, y bool) planes {
	out := *p
	out.p = nil
	for _, q := range p.p {
		d := newPlane(q.w, q.h, q.n)
		for r := range q.h {
			to := r
			if y {
				to = q.h - 1 - r
			}
			src, dst := q.pix[r*q.stride:r*q.stride+q.w*q.n], d.pix[to*d.stride:(to+1)*d.stride]
			if !x {
				copy(dst, src)
				continue
			}
			for i := range q.w {
				copy(dst[(q.w-1-i)*q.n:(q.w-i)*q.n], src[i*q.n:(i+1)*q.n])
			}
		}
		out.p = append(out.p, d)
	}
	return out
}

// rotate turns clockwise.
func (p *planes) rotate(deg int) planes {
	if deg == 180 {
		return p.flip(true, true)
	}
	if deg != 90 && deg != 270 {
		return *p
	}
	out := planes{w: p.h, h: p.w, ratio: p.ratio}
	switch p.ratio {
	case image.YCbCrSubsampleRatio422:
		out.ratio = image.YCbCrSubsampleRatio440
	case image.YCbCrSubsampleRatio440:
		out.ratio = image.YCbCrSubsampleRatio422
	}
	for _, q := range p.p {
		d := newPlane(q.h, q.w, q.n)
		for y := range q.h {
			for x := range q.w {
				tx, ty := q.h-1-y, x
				if deg == 270 {
					tx, ty = y, q.w-1-x
				}
				copy(d.pix[ty*d.stride+tx*q.n:ty*d.stride+(tx+1)*q.n], q.pix[y*q.stride+x*q.n:])
			}
		}
		out.p = append(out.p, d)
	}
	return out
}

// resize scales as fit says. With one side given the other follows.
func (p *planes) resize(c media.Change, toJPEG bool, lim media.Limits) (planes, error) {
	w, h := float64(c.Width), float64(c.Height)
	sw, sh := float64(p.w), float64(p.h)
	fit := c.Fit
	switch {
	case c.Width == 0:
		w, fit = max(1, math.Round(sw*h/sh)), "fill"
	case c.Height == 0:
		h, fit = max(1, math.Round(sh*w/sw)), "fill"
	}
	from := rect{0, 0, sw, sh}
	pad := false
	switch fit {
	case "cover":
		if k := max(w/sw, h/sh); true {
			cw, ch := w/k, h/k
			from = rect{(sw - cw) / 2, (sh - ch) / 2, (sw + cw) / 2, (sh + ch) / 2}
		}
	case "inside", "contain":
		k := min(w/sw, h/sh)
		pad = fit == "contain"
		w, h = max(1, math.Round(sw*k)), max(1, math.Round(sh*k))
	case "outside":
		k := max(w/sw, h/sh)
		w, h = max(1, math.Round(sw*k)), max(1, math.Round(sh*k))
	}
	if err := lim.CheckPixels(int(w), int(h)); err != nil {
		return *p, err
	}
	out := p.scaled(int(w), int(h), from, toJPEG)
	if pad && (int(w) != c.Width || int(h) != c.Height) {
		return padded(out, c.Width, c.Height), nil
	}
	return out, nil
}

// rect is a part of a picture in pixels.
type rect struct{ x0, y0, x1, y1 float64 }

func (p *planes) scaled(w, h int, from rect, toJPEG bool) planes {
	out := planes{w: w, h: h, ratio: p.ratio}
	if toJPEG && len(p.p) == 3 {
		out.ratio = image.YCbCrSubsampleRatio420 // what JPEG is written with; more would be thrown away
	}
	for i, q := range p.p {
		dw, dh := w, h
		if i > 0 {
			dw, dh = chroma(w, h, out.ratio)
		}
		kx, ky := float64(q.w)/float64(p.w), float64(q.h)/float64(p.h)
		out.p = append(out.p, scalePlane(q, dw, dh, rect{from.x0 * kx, from.y0 * ky, from.x1 * kx, from.y1 * ky}))
	}
	return out
}

// padded lays a picture in the middle of a larger one, which is transparent, or black where there is no transparency.
func padded(p planes, w, h int) planes {
	q := p.rgba()
	d := newPlane(w, h, 4)
	x, y := (w-p.w)/2, (h-p.h)/2
	for r := range p.h {
		copy(d.pix[(y+r)*d.stride+x*4:], q.p[0].pix[r*q.p[0].stride:r*q.p[0].stride+p.w*4])
	}
	return planes{w: w, h: h, p: []plane{d}}
}

// parallel cuts rows into one part for each processor. What one of them panics with comes out here, where the pipeline makes
// a failure of it: a broken picture must not end the program.
func parallel(rows int, do func(from, to int)) {
	n := min(runtime.GOMAXPROCS(0), max(1, rows/16))
	if n == 1 {
		do(0, rows)
		return
	}
	var wg sync.WaitGroup
	broken := make([]any, n)
	for i := range n {
		wg.Go(func() {
			defer func() { broken[i] = recover() }()
			do(rows*i/n, rows*(i+1)/n)
		})
	}
	wg.Wait()
	for _, v := range broken {
		if v != nil {
			panic(v)
		}
	}
}
