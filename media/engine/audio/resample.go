package audio

import "math"

const (
	crossings = 40   // of the filter on each side of its middle, at the lower of the two rates
	shape     = 8.0  // of the Kaiser window: about 80 dB
	pass      = 0.93 // of the lower rate's half: the middle of the slope, whose ends are at 0.86 and 1
	maxPhases = 1024 // of the filter that are kept for each crossing; between them it is interpolated
)

// resampler changes the rate of one channel. What the lower rate cannot hold is filtered out.
type resampler struct {
	from, to int
	half     int // of the filter, in samples of the source
	phases   int
	table    [][]float32 // one row a phase, and one more
	in       []float32   // what is still needed; in[0] is sample base of the source
	base     int64
	end      int64 // samples of the source up to now
	n        int64 // the next sample of the result
	out      []float32
}

func newResampler(from, to int) *resampler {
	g := gcd(from, to)
	low := min(1, float64(to)/float64(from))
	r := &resampler{from: from, to: to, phases: min(to/g, max(8, int(maxPhases*low)))}
	r.half = int(math.Ceil(crossings / low))
	cut := pass * low // of half the source's rate
	for p := range r.phases + 1 {
		row := make([]float32, 2*r.half)
		sum := 0.0
		weights := make([]float64, len(row))
		for i := range row {
			x := float64(i-r.half+1) - float64(p)/float64(r.phases)
			weights[i] = cut * sinc(cut*x) * kaiser(x/float64(r.half))
			sum += weights[i]
		}
		for i := range row {
			row[i] = float32(weights[i] / sum) // a constant stays what it is
		}
		r.table = append(r.table, row)
	}
	r.in = make([]float32, r.half-1) // silence before the beginning
	r.base = -int64(r.half - 1)
	return r
}

// push takes the next samples and returns those of the result that they complete. They are valid until the next call.
func (r *resampler) push(in []float32) []float32 {
	r.in = append(r.in, in...)
	r.end += int64(len(in))
	return r.run(math.MaxInt64)
}

// finish returns the rest: as long a result as the source was.
func (r *resampler) finish() []float32 {
	length := (r.end*int64(r.to) + int64(r.from) - 1) / int64(r.from)
	r.in = append(r.in, make([]float32, 2*r.half)...)
	return r.run(length)
}

func (r *resampler) run(length int64) []float32 {
	r.out = r.out[:0]
	for ; r.n < length; r.n++ {
		at, rest := r.n*int64(r.from)/int64(r.to), r.n*int64(r.from)%int64(r.to)
		first := at - int64(r.half) + 1 - r.base
		if first+int64(2*r.half) > int64(len(r.in)) {
			break
		}
		window := r.in[first : first+int64(2*r.half)]
		phase := float64(rest) / float64(r.to) * float64(r.phases)
		p := int(phase + 1e-9)
		sum := dot(window, r.table[p])
		if between := float32(phase - float64(p)); between > 1e-6 {
			sum += between * (dot(window, r.table[p+1]) - sum)
		}
		r.out = append(r.out, sum)
	}
	// Forget what no later sample needs.
	if drop := r.n*int64(r.from)/int64(r.to) - int64(r.half) + 1 - r.base; drop > 1<<14 {
		drop = min(drop, int64(len(r.in)))
		r.in = append(r.in[:0], r.in[drop:]...)
		r.base += drop
	}
	return r.out
}

func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

func sinc(x float64) float64 {
	if math.Abs(x) < 1e-9 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the window at x from -1 to 1.
func kaiser(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel(shape*math.Sqrt(1-x*x)) / bessel(shape)
}

// bessel is the modified Bessel function of the first kind and order 0, by its series.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > 1e-12*sum; k++ {
		term *= (x / (2 * k)) * (x / (2 * k))
		sum += term
	}
	return sum
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
