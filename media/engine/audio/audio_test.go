package audio

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tackle-dev/tackle/media"
)

// Files in testdata were made for this test: 0.6 seconds, 440 Hz at half the volume on the left, 1000 Hz at a quarter on
// the right.
func sample(t testing.TB, name string) media.Payload {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return media.Payload{Data: b, Name: name}
}

func pipeline(t testing.TB, l media.Limits) *media.Pipeline {
	t.Helper()
	p, err := media.New(media.Config{Engines: []media.Engine{Engine()}, Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func query(t testing.TB, p media.Payload, statement string) (media.Result, error) {
	t.Helper()
	return pipeline(t, media.Limits{}).Query(t.Context(), p, statement)
}

func must(t testing.TB, p media.Payload, statement string) media.Result {
	t.Helper()
	res, err := query(t, p, statement)
	if err != nil {
		t.Fatalf("%s: %s: %v", p.Name, statement, err)
	}
	return res
}

// decode asks the engine for pcm as a speech engine would.
func decode(t testing.TB, p media.Payload, rate int) ([]float64, int) {
	t.Helper()
	r := &media.Request{In: media.Identify(p), To: "pcm", Args: map[string]any{}}
	if rate > 0 {
		r.Args[SampleRate] = rate
	}
	res, err := toPCM(t.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	rate, ok := media.PCMRate(res.Media.MIME)
	if !ok || len(res.Media.Data)%4 != 0 {
		t.Fatalf("%s: type %q, %d bytes", p.Name, res.Media.MIME, len(res.Media.Data))
	}
	var out []float64
	for b := res.Media.Data; len(b) > 0; b = b[4:] {
		out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	}
	return out, rate
}

// level is how loud a tone is in samples.
func level(s []float64, rate int, hz float64) float64 {
	var re, im float64
	for i, v := range s {
		w := 2 * math.Pi * hz * float64(i) / float64(rate)
		re += v * math.Cos(w)
		im += v * math.Sin(w)
	}
	return 2 * math.Hypot(re, im) / float64(len(s))
}

// middle leaves the ends out, where coders fade.
func middle(s []float64, rate int, seconds float64) []float64 {
	at := len(s)/2 - int(seconds*float64(rate)/2)
	return s[at : at+int(seconds*float64(rate))]
}

func rest(s []float64, rate int, tones ...float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v * v / float64(len(s))
	}
	for _, hz := range tones {
		l := level(s, rate, hz)
		sum -= l * l / 2
	}
	return math.Sqrt(max(0, sum))
}

func TestM2_SoundIsDecoded(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rate    int
		seconds float64
		scale   float64 // that the encoder put on it: LAME turns 5 % down, mixing two channels kept their power
		noise   float64 // that is allowed beside the tones
	}{
		{"two.flac", 44100, 0.6, 1, 0.0002},
		{"two.mp3", 44100, 0.6, 0.95, 0.003},
		{"low.mp3", 22050, 0.6, 0.95 * math.Sqrt2, 0.003},
		{"two.opus", 48000, 0.6, 1, 0.01},
	} {
		for _, want := range []int{tt.rate, 16000, 8000, 44099} {
			s, rate := decode(t, sample(t, tt.name), want)
			if rate != want {
				t.Errorf("%s: rate %d, asked for %d", tt.name, rate, want)
			}
			if got := float64(len(s)) / float64(rate); math.Abs(got-tt.seconds) > 0.002 {
				t.Errorf("%s at %d: %.4f seconds", tt.name, rate, got)
			}
			m := middle(s, rate, 0.4)
			if a, b := level(m, rate, 440), level(m, rate, 1000); math.Abs(a-0.25*tt.scale) > 0.005 || math.Abs(b-0.125*tt.scale) > 0.005 {
				t.Errorf("%s at %d: the tones have %.3f and %.3f", tt.name, rate, a, b)
			}
			if n := rest(m, rate, 440, 1000); n > tt.noise {
				t.Errorf("%s at %d: %.5f beside the tones", tt.name, rate, n)
			}
		}
	}
}

// A rate that cannot hold a tone does not fold it back.
func TestM2_LowPassBeforeDownSampling(t *testing.T) {
	for _, tt := range []struct {
		from, to int
		hz       float64
		want     float64
	}{
		{44100, 16000, 1000, 0.5}, {44100, 16000, 6800, 0.5}, {44100, 16000, 9000, 0}, {44100, 16000, 15000, 0}, {44100, 16000, 21000, 0},
		{48000, 16000, 12000, 0}, {96000, 16000, 40000, 0}, {8000, 16000, 3000, 0.5}, {44099, 16000, 1000, 0.5}, {11025, 16000, 4700, 0.5}, {16000, 44100, 6800, 0.5},
	} {
		r := newResampler(tt.from, tt.to)
		in := make([]float32, tt.from)
		for i := range in {
			in[i] = float32(0.5 * math.Sin(2*math.Pi*tt.hz*float64(i)/float64(tt.from)))
		}
		var out []float64
		add := func(s []float32) {
			for _, v := range s {
				out = append(out, float64(v))
			}
		}
		for len(in) > 0 {
			n := min(len(in), 1+len(out)%977)
			add(r.push(in[:n]))
			in = in[n:]
		}
		add(r.finish())
		if len(out) != tt.to {
			t.Errorf("%d to %d: %d samples of one second", tt.from, tt.to, len(out))
		}
		m := middle(out, tt.to, 0.5)
		if got := level(m, tt.to, tt.hz); tt.want > 0 && math.Abs(got-tt.want) > 0.002 {
			t.Errorf("%d to %d: a tone of %v Hz has %.4f", tt.from, tt.to, tt.hz, got)
		}
		noise := rest(m, tt.to)
		if tt.want > 0 {
			noise = rest(m, tt.to, tt.hz)
		}
		if noise > 0.0005 {
			t.Errorf("%d to %d: a tone of %v Hz leaves %.5f where nothing should be", tt.from, tt.to, tt.hz, noise)
		}
	}
}

// wav makes a file. Its samples are the bytes given.
func wav(kind, channels, rate, bits int, data []byte) []byte {
	h := wavHeader(rate, channels, bits, 0)[:36]
	binary.LittleEndian.PutUint32(h[16:], 16)
	binary.LittleEndian.PutUint16(h[20:], uint16(kind))
	binary.LittleEndian.PutUint16(h[32:], uint16(channels*((bits+7)/8)))
	h = binary.LittleEndian.AppendUint32(append(h, "data"...), uint32(len(data)))
	return append(h, data...)
}

func TestM2_SamplesOfWAV(t *testing.T) {
	f32 := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	f64 := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	for _, tt := range []struct {
		name string
		data []byte
		want []float64
	}{
		{"8 bits", wav(1, 1, 8000, 8, []byte{0, 64, 128, 192}), []float64{-1, -0.5, 0, 0.5}},
		{"16 bits", wav(1, 1, 8000, 16, []byte{0, 0x80, 0, 0xc0, 0, 0, 0, 0x40}), []float64{-1, -0.5, 0, 0.5}},
		{"24 bits", wav(1, 1, 8000, 24, []byte{0, 0, 0x80, 0, 0, 0x40}), []float64{-1, 0.5}},
		{"32 bits", wav(1, 1, 8000, 32, []byte{0, 0, 0, 0xc0}), []float64{-0.5}},
		{"12 bits in two bytes", wav(1, 1, 8000, 12, []byte{0, 0x40}), []float64{0.5}},
		{"two channels become one", wav(1, 2, 8000, 16, []byte{0, 0x40, 0, 0, 0, 0xc0, 0, 0x40}), []float64{0.25, 0}},
		{"float", wav(3, 1, 8000, 32, append(f32(0.25), f32(float32(math.NaN()))...)), []float64{0.25, 0}},
		{"double", wav(3, 1, 8000, 64, append(f64(-0.75), f64(math.Inf(1))...)), []float64{-0.75, 0}},
		{"a-law", wav(6, 1, 8000, 8, []byte{0xd5, 0xaa, 0x2a}), []float64{8.0 / 32768, 32256.0 / 32768, -32256.0 / 32768}},
		{"µ-law", wav(7, 1, 8000, 8, []byte{0xff, 0x80, 0x00}), []float64{0, 32124.0 / 32768, -32124.0 / 32768}},
		{"nothing", wav(1, 1, 8000, 16, nil), nil},
	} {
		got, rate := decode(t, media.Payload{Data: tt.data, Name: "a.wav"}, 0)
		if d := cmp.Diff(tt.want, got); d != "" || rate != 8000 {
			t.Errorf("%s: %d Hz %s", tt.name, rate, d)
		}
	}
	// What is written is read again as it was, in every number of bits and channels.
	flac := must(t, sample(t, "two.flac"), "convert to=wav").Media
	if flac.MIME != "audio/wav" || flac.Name != "two.wav" {
		t.Errorf("%s %s", flac.MIME, flac.Name)
	}
	a, _ := decode(t, sample(t, "two.flac"), 0)
	b, _ := decode(t, *flac, 0)
	if !cmp.Equal(a, b) {
		t.Error("wav does not hold what flac does")
	}
	head := wavHeader(48000, 6, 24, 2)
	tr, err := openWAV(append(head, make([]byte, 36)...))
	if err != nil || tr.channels != 6 || tr.bits != 24 || tr.samples != 2 || tr.rate != 48000 {
		t.Errorf("%+v %v", tr, err)
	}
}

func TestM2_EmptyWAV(t *testing.T) {
	p, err := pipeline(t, media.Limits{}).Create(t.Context(), "wav")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := openWAV(p.Data)
	if err != nil || tr.rate != 44100 || tr.channels != 1 || tr.bits != 16 || tr.samples != 44100 || len(p.Data) != 44+88200 || p.Name != "untitled.wav" {
		t.Fatalf("%+v %d bytes %v", tr, len(p.Data), err)
	}
	if s, _ := decode(t, p, 0); len(s) != 44100 || rest(s, 44100) != 0 {
		t.Error("it is not one second of silence")
	}
}

// Each hostile file is refused with its code, and says why.
func TestMED_BadSounds(t *testing.T) {
	good := wav(1, 2, 8000, 16, make([]byte, 400))
	with := func(at int, b ...byte) []byte {
		out := bytes.Clone(good)
		copy(out[at:], b)
		return out
	}
	cut := func(name string, n, d int) []byte { b := sample(t, name).Data; return b[:len(b)*n/d] }
	flip := func(name string) []byte {
		b := bytes.Clone(sample(t, name).Data)
		b[len(b)*2/3] ^= 0x10
		return b
	}
	flacSays := func(n uint32) []byte {
		b := bytes.Clone(sample(t, "two.flac").Data)
		binary.BigEndian.PutUint32(b[8+14:], n)
		return b
	}
	for _, tt := range []struct {
		name, file string
		data       []byte
		code, want string
	}{
		{"zero rate", "a.wav", with(24, 0, 0, 0, 0), media.StepFailed, "0 samples a second"},
		{"a rate that is none", "a.wav", with(24, 0xff, 0xff, 0xff, 0xff), media.StepFailed, "rates from 1000 to 768000"},
		{"no channels", "a.wav", with(22, 0, 0), media.StepFailed, "no channels"},
		{"65535 channels", "a.wav", wav(1, 65535, 8000, 8, make([]byte, 65535)), media.StepFailed, ""},
		{"counts that contradict", "a.wav", with(32, 9, 0), media.StepFailed, "take 9 bytes"},
		{"no bits", "a.wav", with(34, 0, 0), media.UnsupportedOp, "with 0 bits"},
		{"cut off", "a.wav", good[:300], media.StepFailed, "holds 256; it is cut off"},
		{"only a head", "a.wav", good[:20], media.StepFailed, "no description"},
		{"a head larger than the file", "a.wav", with(16, 0xff, 0xff, 0xff, 0x7f), media.StepFailed, "no samples"},
		{"another coding", "a.wav", with(20, 2, 0), media.UnsupportedOp, "kind 2"},
		{"mp3 cut off", "a.mp3", cut("two.mp3", 1, 2), media.StepFailed, "it is cut off"},
		{"mp3 of a tag alone", "a.mp3", append([]byte("ID3\x04\x00\x00\x7f\x7f\x7f\x7f"), make([]byte, 100)...), media.StepFailed, "no frame"},
		{"mp3 of noise", "a.mp3", bytes.Repeat([]byte{0xff, 0xfb, 0x55}, 3000), media.StepFailed, ""},
		{"mp3 of version 2.5", "a.mp3", bytes.Repeat(append([]byte{0xff, 0xe3, 0x18, 0xc4}, make([]byte, 68)...), 20), media.UnsupportedOp, "MPEG 2.5"},
		{"mp3 of an open bit rate", "a.mp3", append([]byte{0xff, 0xfb, 0x00, 0xc4}, make([]byte, 400)...), media.UnsupportedOp, "free format"},
		{"flac cut off", "a.flac", cut("two.flac", 1, 2), media.StepFailed, "cut off"},
		{"flac with a bit turned", "a.flac", flip("two.flac"), media.StepFailed, "damaged"},
		{"flac with a count too high", "a.flac", flacSays(26461), media.StepFailed, "says that it has 26461 samples and holds 26460"},
		{"flac with a count too low", "a.flac", flacSays(100), media.StepFailed, "says that it has 100 samples"},
		{"flac longer than is allowed", "a.flac", flacSays(0xffffffff), media.StepFailed, "longer than the 6h0m0s"},
		{"flac with a head larger than the file", "a.flac", []byte("fLaC\x84\xff\xff\xff"), media.StepFailed, "longer than the file"},
		{"opus cut off", "a.ogg", cut("two.opus", 1, 2), media.StepFailed, "cut off"},
		{"opus with a bit turned", "a.ogg", flip("two.opus"), media.StepFailed, "checksum"},
		{"ogg with something else", "a.ogg", (&page{flags: 2, lacing: []byte{7}, body: []byte("\x01vorbis")}).write(nil), media.UnsupportedOp, "Vorbis"},
		{"text that calls itself mp3", "a.mp3", []byte("no sound at all, only words"), media.UnsupportedOp, ""},
		{"mp3 that calls itself wav", "a.wav", cut("two.mp3", 1, 3), media.StepFailed, "a.wav is damaged: it says that it has"},
	} {
		for _, do := range []string{"convert to=wav", "sanitize"} {
			if do == "convert to=wav" && strings.HasSuffix(tt.file, ".wav") && tt.file == "a.wav" && bytes.HasPrefix(tt.data, []byte("RIFF")) {
				continue // it is wav already and stays as it is
			}
			if do == "sanitize" && (strings.HasPrefix(tt.name, "flac") && tt.name != "flac longer than is allowed" && !strings.Contains(tt.name, "head") || strings.HasPrefix(tt.name, "text")) {
				continue // tags are taken off without decoding, and text has other engines
			}
			_, err := query(t, media.Payload{Data: tt.data, Name: tt.file}, do)
			var e *media.Error
			if !errors.As(err, &e) || e.Code != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %s: %v", tt.name, do, err)
			}
		}
		res, err := query(t, media.Payload{Data: tt.data, Name: tt.file}, "extract metadata")
		if err != nil || res.Read.Data.(map[string]any)["filename"] != tt.file {
			t.Errorf("%s: metadata %v", tt.name, err)
		}
	}
}

func TestMED_SoundLimits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit media.Limits
		want  string
	}{
		{"two.flac", media.Limits{Sound: 500 * time.Millisecond}, "longer than the 500ms"},
		{"two.mp3", media.Limits{Sound: 500 * time.Millisecond}, "longer than the 500ms"},
		{"two.opus", media.Limits{Sound: 500 * time.Millisecond}, "longer than the 500ms"},
		{"two.flac", media.Limits{Bytes: 100_000}, "more than the 100000 bytes"},
		{"two.opus", media.Limits{Bytes: 100_000}, "more than the 100000 bytes"},
	} {
		_, err := pipeline(t, tt.limit).Query(t.Context(), sample(t, tt.name), "convert to=wav")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %+v: %v", tt.name, tt.limit, err)
		}
	}
	// A stream whose packets are three bytes for 120 ms each is long before it is decoded.
	var bomb []byte
	bomb = (&page{flags: 2, lacing: []byte{19}, body: append([]byte("OpusHead\x01\x01"), make([]byte, 9)...)}).write(bomb)
	bomb = (&page{number: 1, lacing: []byte{16}, body: []byte("OpusTags\x00\x00\x00\x00\x00\x00\x00\x00")}).write(bomb)
	for i := range uint32(1000) {
		bomb = (&page{number: 2 + i, granule: int64(255*(i+1)) * 5760, lacing: bytes.Repeat([]byte{3}, 255), body: bytes.Repeat([]byte{0x1b, 2, 0}, 255)}).write(bomb)
	}
	if _, err := query(t, media.Payload{Data: bomb, Name: "a.opus"}, "convert to=wav"); err == nil || !strings.Contains(err.Error(), "longer than the 6h0m0s") {
		t.Errorf("a bomb of %d bytes: %v", len(bomb), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := toPCM(ctx, &media.Request{In: media.Identify(sample(t, "two.mp3")), To: "pcm"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := toPCM(t.Context(), &media.Request{In: media.Identify(sample(t, "two.mp3")), To: "pcm", Args: map[string]any{SampleRate: 1 << 30}}); err == nil || !strings.Contains(err.Error(), "rates from") {
		t.Error(err)
	}
}

func id3(version byte, frames ...[]byte) []byte {
	body := bytes.Join(frames, nil)
	n := len(body)
	return append([]byte{'I', 'D', '3', version, 0, 0, byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127)}, body...)
}

func id3Frame(version byte, id string, body string) []byte {
	n := len(body)
	switch version {
	case 2:
		return append([]byte(id), append([]byte{byte(n >> 16), byte(n >> 8), byte(n)}, body...)...)
	case 4:
		return append([]byte(id), append([]byte{byte(n >> 21 & 127), byte(n >> 14 & 127), byte(n >> 7 & 127), byte(n & 127), 0, 0}, body...)...)
	}
	return append([]byte(id), append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 0, 0}, body...)...)
}

const tinyPNG = "\x89PNG\r\n\x1a\nrest"

func TestM2_SoundMetadata(t *testing.T) {
	sound := sample(t, "two.mp3").Data
	sound = sound[id3Length(sound):]
	picture := "\x00\x00\x00\x03\x00\x00\x00\x09image/png\x00\x00\x00\x00" + strings.Repeat("\x00", 16) + "\x00\x00\x00\x0c" + tinyPNG
	comments := func(list ...string) []byte {
		b := binary.LittleEndian.AppendUint32([]byte("OpusTags\x00\x00\x00\x00"), uint32(len(list)))
		for _, c := range list {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(c))), c...)
		}
		return b
	}
	var ogg []byte
	ps := sample(t, "two.opus").Data
	first, err := readPage(ps, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := readPage(ps, first.next)
	if err != nil {
		t.Fatal(err)
	}
	ogg = append(ogg, ps[:first.next]...)
	c := comments("TITLE=Ä", "artist=x", "ARTIST=y", "METADATA_BLOCK_PICTURE="+base64.StdEncoding.EncodeToString([]byte(picture)))
	if len(c) > 254 {
		t.Fatal("the comments need more than one entry")
	}
	ogg = (&page{serial: first.serial, number: 1, lacing: []byte{byte(len(c))}, body: c}).write(ogg)
	ogg = append(ogg, ps[second.next:]...)
	info := []byte("RIFF\x00\x00\x00\x00WAVELIST\x10\x00\x00\x00INFOINAM\x04\x00\x00\x00Name")
	riff := append(info, wav(1, 1, 8000, 16, make([]byte, 16000))[12:]...)
	for _, tt := range []struct {
		name   string
		data   []byte
		want   map[string]any
		title  string
		covers int
	}{
		{"two.flac", sample(t, "two.flac").Data, map[string]any{"codec": "flac", "sample_rate": 44100, "channels": 2, "bits_per_sample": 16, "duration_seconds": 0.6}, "Two tones", 0},
		{"two.mp3", sample(t, "two.mp3").Data, map[string]any{"codec": "mp3", "sample_rate": 44100, "channels": 2, "duration_seconds": 0.6}, "Two tönes", 0},
		{"low.mp3", sample(t, "low.mp3").Data, map[string]any{"codec": "mp3", "sample_rate": 22050, "channels": 1, "duration_seconds": 0.6}, "", 0},
		{"two.opus", sample(t, "two.opus").Data, map[string]any{"codec": "opus", "sample_rate": 48000, "channels": 2, "duration_seconds": 0.6}, "Two tones", 0},
		{"riff.wav", riff, map[string]any{"codec": "pcm", "sample_rate": 8000, "channels": 1, "bits_per_sample": 16, "duration_seconds": 1.0}, "Name", 0},
		{"v2.mp3", append(id3(2, id3Frame(2, "TT2", "\x00T\xf6ne"), id3Frame(2, "PIC", "\x00PNG\x03\x00"+tinyPNG)), sound...), map[string]any{"codec": "mp3"}, "Töne", 1},
		{"v3.mp3", append(id3(3, id3Frame(3, "TIT2", "\x01\xff\xfeT\x00\xf6\x00"), id3Frame(3, "APIC", "\x01image/png\x00\x03\xff\xfea\x00\x00\x00"+tinyPNG)), sound...), map[string]any{"codec": "mp3"}, "Tö", 1},
		{"v4.mp3", append(id3(4, id3Frame(4, "TIT2", "\x03Tö\x00Two"), id3Frame(4, "APIC", "\x03image/png\x00\x03a\x00"+tinyPNG)), sound...), map[string]any{"codec": "mp3"}, "Tö; Two", 1},
		{"old.mp3", append(bytes.Clone(sound), append([]byte("TAGOld title"), make([]byte, 128-12)...)...), map[string]any{"codec": "mp3"}, "Old title", 0},
		{"cover.opus", ogg, map[string]any{"codec": "opus"}, "Ä", 1},
	} {
		p := media.Payload{Data: tt.data, Name: tt.name}
		m := must(t, p, "extract metadata").Read.Data.(map[string]any)
		for k, v := range tt.want {
			if m[k] != v {
				t.Errorf("%s: %s is %v, want %v", tt.name, k, m[k], v)
			}
		}
		text, _ := m["tags"].(map[string]string)
		if text["title"] != tt.title {
			t.Errorf("%s: tags %q, want the title %q (%v)", tt.name, text, tt.title, m["problem"])
		}
		res, err := query(t, p, "extract assets")
		if tt.covers == 0 {
			if err == nil || !strings.Contains(err.Error(), "carries no picture") {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if err != nil || len(res.List) != tt.covers || string(res.List[0].Data) != tinyPNG || res.List[0].Name != "cover1.png" {
			t.Errorf("%s: %+v %v", tt.name, res.List, err)
		}
		// Sanitized, it sounds the same and says nothing.
		res, err = query(t, p, "sanitize")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if n := res.Counts.Removed; n == 0 && (text != nil || tt.covers > 0) {
			t.Errorf("%s: %d removed", tt.name, n)
		}
		left := readTags(&media.Payload{Data: res.Media.Data, MIME: res.Media.MIME})
		if len(left.text)+len(left.pictures) > 0 {
			t.Errorf("%s: %v is left", tt.name, left)
		}
		a, _ := decode(t, p, 0)
		b, _ := decode(t, *res.Media, 0)
		if !cmp.Equal(a, b) || len(a) == 0 {
			t.Errorf("%s: sanitized, it sounds different", tt.name)
		}
	}
}

func TestM2_SoundIsRefusedWhatIsForOthers(t *testing.T) {
	for _, do := range []string{"extract assets types=font", "convert to=wav | sanitize | convert to=pdf"} {
		if _, err := query(t, sample(t, "two.mp3"), do); err == nil {
			t.Errorf("%s: no error", do)
		}
	}
	if pipeline(t, media.Limits{}).Available("audio.transcribe") {
		t.Error("transcription is offered without an engine for it")
	}
}

// A stream of wav whose sizes were never written is read to its end, and it is said.
func TestM2_StreamedWAV(t *testing.T) {
	b := wav(1, 1, 8000, 16, make([]byte, 101))
	binary.LittleEndian.PutUint32(b[40:], 0xffffffff)
	tr, err := openWAV(b)
	if err != nil || tr.samples != 50 || len(tr.notes) != 2 {
		t.Errorf("%+v %v", tr, err)
	}
}

// short gives the beginning of a file as a whole file, small enough to be tried many times.
func short(t testing.TB, name string) []byte {
	b := sample(t, name).Data
	switch {
	case strings.HasSuffix(name, ".flac"):
		binary.BigEndian.PutUint32(b[8+14:], 0) // it does not say how many samples it has
		return b[:3500]
	case strings.HasSuffix(name, ".mp3"):
		s, err := frames(b)
		if err != nil {
			t.Fatal(err)
		}
		return append(bytes.Clone(b[:id3Length(b)]), b[s.first+s.head.size:s.first+4*s.head.size]...) // without the description
	}
	var out []byte
	ps := &packets{b: b}
	for i := range uint32(5) {
		p, _, err := ps.next()
		if err != nil || len(p) > 500 {
			t.Fatalf("%d %v", len(p), err)
		}
		flags := byte(0)
		if i == 0 {
			flags = 2
		}
		out = (&page{flags: flags, number: i, granule: int64(i) * 960, lacing: []byte{byte(min(len(p), 255)), byte(max(0, len(p)-255))}[:1+min(1, len(p)/255)], body: p}).write(out)
	}
	return out
}

// Whatever the bytes, what comes back is a result within the limits or an error for a model, and a file that was sanitized
// is one that can be opened.
func FuzzSound(f *testing.F) {
	for i, name := range []string{"two.flac", "two.mp3", "low.mp3", "two.opus"} {
		f.Add(short(f, name), byte(2*i%7))
	}
	f.Add(wav(7, 1, 8000, 8, []byte("abcdefgh")), byte(0))
	f.Add(append(id3(3, id3Frame(3, "TIT2", "\x01\xff\xfeT\x00")), 0xff, 0xfb, 0x90, 0xc4), byte(1))
	l := media.Limits{Sound: 500 * time.Millisecond, Bytes: 1 << 18, Time: time.Minute}
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		if len(b) > 1<<13 {
			return
		}
		token := []string{"wav", "mp3", "flac", "ogg"}[kind%4]
		format, _ := media.FormatOf(token)
		for _, mime := range []string{media.Identify(media.Payload{Data: b, Name: "a." + token}).MIME, format.MIME} {
			p := media.Payload{Data: b, MIME: mime, Name: "a." + token}
			r := &media.Request{In: p, To: "pcm", Limits: l, Args: map[string]any{SampleRate: 16000}}
			for _, do := range []func(context.Context, *media.Request) (media.Result, error){toPCM, toWAV, describe, covers, sanitize} {
				res, err := do(t.Context(), r)
				var e *media.Error
				switch {
				case err != nil && !errors.As(err, &e):
					t.Fatalf("%v is no error for a model", err)
				case err == nil && res.Media != nil && int64(len(res.Media.Data)) > l.Bytes:
					t.Fatalf("%d bytes", len(res.Media.Data))
				}
			}
			if res, err := sanitize(t.Context(), r); err == nil {
				if _, err := open(&media.Payload{Data: res.Media.Data, MIME: mime}, l.WithDefaults()); err != nil {
					t.Fatalf("sanitized, it cannot be opened: %v", err)
				}
			}
			readTags(&p)
		}
	})
}
