package ext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/tackle-dev/tackle/media"
)

// speechRate is the rate that recognisers want, in samples a second.
const speechRate = 16000

// sounds are the containers that ffmpeg opens: not those that are lists of other files and addresses.
const sounds = "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dts,eac3,flac,flv,gsm,loas,matroska,webm,mov,mp4,mp3,mpc,mpc8,mpeg,mpegts,ogg,oma,rm,sox,tta,voc,w64,wav,wv,xwma"

// ffmpeg decodes any sound to samples of 16 kHz. It has a filter of its own before it leaves samples out.
func (f *Finder) ffmpeg(ctx context.Context) Found {
	x, ok := f.find("ffmpeg", "sound of more formats, and of videos, to be written down", "on Debian: apt install ffmpeg")
	if !ok {
		return x
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		b, err := f.run(ctx, job{argv: []string{x.Path, "-nostdin", "-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file", "-format_whitelist", sounds, "-i", "in", "-vn", "-ac", "1", "-ar", strconv.Itoa(speechRate), "-f", "f32le", "out.raw"},
			in: map[string][]byte{"in": r.In.Data}, out: "out.raw", time: 2 * time.Minute}, limitOf(r))
		if err != nil {
			return media.Result{}, err
		}
		res, err := gave(b)
		res.Media.MIME = fmt.Sprintf("%s;rate=%d", media.PCMMIME, speechRate)
		return res, err
	}
	trial := func() error {
		res, err := do(ctx, &media.Request{In: media.Payload{Data: wave(make([]float32, 800), 8000)}})
		if err == nil && len(res.Media.Data) == 0 {
			err = errors.New("it did not decode a small file")
		}
		return err
	}
	if !f.tried(ctx, &x, trial, x.Path, "-version") {
		return x
	}
	return x.works(media.Engine{Convert: []media.Convert{{From: []string{"audio/*"}, To: []string{"pcm"}, Keep: media.Structure, Do: do}}})
}

// samples reads a media of decoded sound.
func samples(p *media.Payload) ([]float32, int, error) {
	_, params, err := mime.ParseMediaType(p.MIME)
	rate, err2 := strconv.Atoi(params["rate"])
	if err != nil || err2 != nil || rate < 1000 || rate > 768_000 || len(p.Data)%4 != 0 {
		return nil, 0, media.Failf("the decoded sound does not say its rate.")
	}
	out := make([]float32, len(p.Data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(p.Data[4*i:]))
	}
	return resampled(out, rate), speechRate, nil
}

// resampled brings sound to the rate of recognisers: what is too high for it is taken out first.
func resampled(in []float32, rate int) []float32 {
	if rate == speechRate || len(in) == 0 {
		return in
	}
	ratio := float64(rate) / speechRate
	out := make([]float32, int(float64(len(in))/ratio))
	half := max(1, ratio) * 8 // of the window, in samples of the input
	cutoff := min(1, 1/ratio)
	for i := range out {
		at := float64(i) * ratio
		sum, weight := 0.0, 0.0
		for k := max(0, int(at-half)); k <= min(len(in)-1, int(at+half)); k++ {
			d := float64(k) - at
			w := cutoff * sinc(d*cutoff) * (0.5 + 0.5*math.Cos(math.Pi*d/(half+1)))
			sum, weight = sum+w*float64(in[k]), weight+w
		}
		if weight != 0 {
			out[i] = float32(sum / weight)
		}
	}
	return out
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// wave writes sound as a file of 16-bit samples.
func wave(in []float32, rate int) []byte {
	b := make([]byte, 44, 44+2*len(in))
	copy(b, "RIFF")
	binary.LittleEndian.PutUint32(b[4:], uint32(36+2*len(in)))
	copy(b[8:], "WAVEfmt ")
	binary.LittleEndian.PutUint32(b[16:], 16)
	binary.LittleEndian.PutUint16(b[20:], 1)
	binary.LittleEndian.PutUint16(b[22:], 1)
	binary.LittleEndian.PutUint32(b[24:], uint32(rate))
	binary.LittleEndian.PutUint32(b[28:], uint32(2*rate))
	binary.LittleEndian.PutUint16(b[32:], 2)
	binary.LittleEndian.PutUint16(b[34:], 16)
	copy(b[36:], "data")
	binary.LittleEndian.PutUint32(b[40:], uint32(2*len(in)))
	for _, v := range in {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(max(-32768, min(32767, math.Round(float64(v)*32767))))))
	}
	return b
}

// segment is a stretch of speech. Times are in seconds.
type segment struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
}

// written gives segments in the form that was asked for.
func written(segs []segment, to string) (media.Result, error) {
	var b strings.Builder
	switch to {
	case "json":
		if segs == nil {
			segs = []segment{}
		}
		var words []string
		for _, s := range segs {
			words = append(words, s.Text)
		}
		out, err := json.Marshal(map[string]any{"text": strings.Join(words, " "), "segments": segs})
		if err != nil {
			return media.Result{}, err
		}
		return gave(out)
	case "srt", "vtt":
		sep := ","
		if to == "vtt" {
			sep = "."
			b.WriteString("WEBVTT\n\n")
		}
		for i, s := range segs {
			if to == "srt" {
				fmt.Fprintf(&b, "%d\n", i+1)
			}
			fmt.Fprintf(&b, "%s --> %s\n%s\n\n", clock(s.Start, sep), clock(max(s.Start, s.End), sep), s.Text)
		}
	default:
		for _, s := range segs {
			b.WriteString(s.Text + "\n")
		}
	}
	return gave([]byte(b.String()))
}

func clock(sec float64, sep string) string {
	ms := int(math.Round(max(0, sec) * 1000))
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, sep, ms%1000)
}

var speechOut = []string{"txt", "srt", "vtt", "json"}

// english refuses what a recogniser for English does not understand.
func english(r *media.Request, name string) error {
	if lang, _ := r.Args["lang"].(string); lang != "" && !strings.HasPrefix(strings.ToLower(lang), "en") {
		return media.Refusef("%s understands English here, not %q.", name, lang)
	}
	if on, _ := r.Args["translate"].(bool); on {
		return media.Refusef("%s does not translate.", name)
	}
	return nil
}

// pocketsphinx writes English speech down.
func (f *Finder) pocketsphinx(ctx context.Context) Found {
	x, ok := f.find("pocketsphinx", "English speech to text, with many mistakes", "on Debian: apt install pocketsphinx pocketsphinx-en-us", "pocketsphinx_continuous")
	if !ok {
		return x
	}
	const model = "/usr/share/pocketsphinx/model/en-us"
	if !f.cfg.Exists(model) {
		x.Reason = "it has no model; on Debian: apt install pocketsphinx-en-us"
		return x
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		if err := english(r, "pocketsphinx"); err != nil {
			return media.Result{}, err
		}
		in, rate, err := samples(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		b, err := f.run(ctx, job{argv: []string{x.Path, "-infile", "in.wav", "-time", "yes", "-logfn", "/dev/null"}, in: map[string][]byte{"in.wav": wave(in, rate)}, time: 10 * time.Minute}, limitOf(r))
		if err != nil {
			return media.Result{}, err
		}
		res, err := written(sphinxSegments(string(b)), r.To)
		res.Warnings = append(res.Warnings, "pocketsphinx is a small recogniser: about one word of three may be wrong.")
		return res, err
	}
	if !f.tried(ctx, &x, func() error { _, err := do(ctx, &media.Request{In: silence(), To: "txt"}); return err }) {
		return x
	}
	return x.works(media.Engine{Convert: []media.Convert{{From: []string{media.PCMMIME}, To: speechOut, Keep: media.Text, Do: do}}})
}

// silence is half a second of decoded sound.
func silence() media.Payload {
	return media.Payload{Data: make([]byte, 4*speechRate/2), MIME: fmt.Sprintf("%s;rate=%d", media.PCMMIME, speechRate)}
}

// sphinxSegments reads what pocketsphinx prints: a line with what was said, then a line for each word with its times.
func sphinxSegments(out string) []segment {
	var segs []segment
	var cur segment
	begun := false
	for _, l := range strings.Split(out, "\n") {
		c := strings.Fields(l)
		if len(c) == 4 {
			from, err := strconv.ParseFloat(c[1], 64)
			to, err2 := strconv.ParseFloat(c[2], 64)
			if err == nil && err2 == nil {
				if !begun {
					cur.Start, begun = from, true
				}
				cur.End = to
				continue
			}
		}
		if cur.Text != "" {
			segs = append(segs, cur)
		}
		cur, begun = segment{Text: strings.TrimSpace(l)}, false
	}
	if cur.Text != "" {
		segs = append(segs, cur)
	}
	return segs
}

// whisper writes speech down with whisper.cpp, where the operator named a model.
func (f *Finder) whisper(ctx context.Context) Found {
	x, ok := f.find("whisper-cli", "speech to text", "it is a part of whisper.cpp. A service can be named instead: media.speech.url")
	switch {
	case !ok:
		return x
	case f.cfg.Model == "":
		x.Reason = "it is here, and no model is configured: media.speech.model_file"
		return x
	case !f.cfg.Exists(f.cfg.Model):
		x.Reason = "there is no model at " + f.cfg.Model
		return x
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		in, rate, err := samples(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		args := []string{x.Path, "-m", f.cfg.Model, "-f", "in.wav", "-np", "-oj", "-of", "out"}
		lang, _ := r.Args["lang"].(string)
		lang, _, _ = strings.Cut(cmp.Or(lang, "auto"), "-")
		args = append(args, "-l", lang)
		if on, _ := r.Args["translate"].(bool); on {
			args = append(args, "-tr")
		}
		b, err := f.run(ctx, job{argv: args, read: []string{f.cfg.Model}, in: map[string][]byte{"in.wav": wave(in, rate)}, out: "out.json", time: 10 * time.Minute}, limitOf(r))
		if err != nil {
			return media.Result{}, err
		}
		var got struct {
			Transcription []struct {
				Offsets struct{ From, To float64 }
				Text    string
			}
		}
		if err := json.Unmarshal(b, &got); err != nil {
			return media.Result{}, media.Failf("whisper-cli gave something that cannot be read: %v.", err)
		}
		var segs []segment
		for _, s := range got.Transcription {
			segs = append(segs, segment{s.Offsets.From / 1000, s.Offsets.To / 1000, strings.TrimSpace(s.Text)})
		}
		return written(segs, r.To)
	}
	if !f.tried(ctx, &x, func() error { _, err := do(ctx, &media.Request{In: silence(), To: "txt"}); return err }) {
		return x
	}
	return x.works(media.Engine{Convert: []media.Convert{{From: []string{media.PCMMIME}, To: speechOut, Keep: media.Text, Do: do}}})
}

// vosk writes speech down with the models that its user has fetched.
func (f *Finder) vosk(ctx context.Context) Found {
	x, ok := f.find("vosk-transcriber", "speech to text", "it comes with the Python package vosk")
	switch {
	case !ok:
		return x
	case f.cfg.Model == "" || !f.cfg.Exists(f.cfg.Model):
		x.Reason = "it is here, and no folder with a model is configured: media.speech.model_file"
		return x
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		if on, _ := r.Args["translate"].(bool); on {
			return media.Result{}, media.Refusef("vosk does not translate.")
		}
		in, rate, err := samples(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		b, err := f.run(ctx, job{argv: []string{x.Path, "-m", f.cfg.Model, "-i", "in.wav", "-t", "srt", "-o", "out.srt"}, read: []string{f.cfg.Model}, in: map[string][]byte{"in.wav": wave(in, rate)}, out: "out.srt", time: 10 * time.Minute}, limitOf(r))
		if err != nil {
			return media.Result{}, err
		}
		return written(srtSegments(string(b)), r.To)
	}
	if !f.tried(ctx, &x, func() error { _, err := do(ctx, &media.Request{In: silence(), To: "txt"}); return err }) {
		return x
	}
	return x.works(media.Engine{Convert: []media.Convert{{From: []string{media.PCMMIME}, To: speechOut, Keep: media.Text, Do: do}}})
}

// srtSegments reads subtitles.
func srtSegments(s string) []segment {
	var out []segment
	for _, block := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		for i, l := range lines {
			from, to, ok := strings.Cut(l, " --> ")
			if !ok {
				continue
			}
			out = append(out, segment{seconds(from), seconds(to), strings.Join(lines[i+1:], " ")})
			break
		}
	}
	return out
}

func seconds(s string) float64 {
	var h, m int
	var sec float64
	if _, err := fmt.Sscanf(strings.ReplaceAll(strings.TrimSpace(s), ",", "."), "%d:%d:%f", &h, &m, &sec); err != nil {
		return 0
	}
	return float64(h*3600+m*60) + sec
}

// speechService is a service that the operator named. It is not tried: that would send sound before anybody asked for it.
func speechService(s *Speech) Found {
	x := Found{Name: "speech service", Path: s.URL, Version: s.Model, Use: "speech to text, sent there"}
	if s.URL == "" || s.Model == "" || s.Post == nil {
		x.Reason = "media.speech needs a url and a model"
		return x
	}
	do := func(ctx context.Context, r *media.Request) (media.Result, error) {
		in, rate, err := samples(&r.In)
		if err != nil {
			return media.Result{}, err
		}
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		field := func(name, value string) {
			if err == nil && value != "" {
				err = w.WriteField(name, value)
			}
		}
		field("model", s.Model)
		field("response_format", "verbose_json")
		lang, _ := r.Args["lang"].(string)
		lang, _, _ = strings.Cut(lang, "-")
		field("language", lang)
		part, err2 := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="audio.wav"`}, "Content-Type": {"audio/wav"}})
		if err != nil || err2 != nil {
			return media.Result{}, cmp.Or(err, err2)
		}
		if _, err := part.Write(wave(in, rate)); err != nil {
			return media.Result{}, err
		}
		if err := w.Close(); err != nil {
			return media.Result{}, err
		}
		at := "/audio/transcriptions"
		if on, _ := r.Args["translate"].(bool); on {
			at = "/audio/translations"
		}
		header := map[string]string{"Content-Type": w.FormDataContentType()}
		if s.Key != "" {
			header["Authorization"] = "Bearer " + s.Key
		}
		status, answer, err := s.Post(ctx, strings.TrimRight(s.URL, "/")+at, header, body.Bytes())
		if err != nil {
			return media.Result{}, media.Failf("the speech service could not be reached: %v.", err)
		}
		if status != 200 {
			return media.Result{}, media.Failf("the speech service answered with status %d: %.200s", status, answer)
		}
		var got struct {
			Text     string    `json:"text"`
			Duration float64   `json:"duration"`
			Segments []segment `json:"segments"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return media.Result{}, media.Failf("the speech service answered something that cannot be read: %v.", err)
		}
		if got.Segments == nil && got.Text != "" {
			got.Segments = []segment{{0, cmp.Or(got.Duration, float64(len(in))/speechRate), got.Text}}
		}
		for i := range got.Segments {
			got.Segments[i].Text = strings.TrimSpace(got.Segments[i].Text)
		}
		return written(got.Segments, r.To)
	}
	return x.works(media.Engine{Convert: []media.Convert{{From: []string{media.PCMMIME}, To: speechOut, Keep: media.Text, Do: do}}})
}
