// Package audio is the engine for sound: it decodes wav, mp3, flac and Opus in Ogg, writes wav, reads tags and takes them
// away.
//
// Decoded sound is what a speech engine wants: little-endian float32, one channel, the rate said in the type. It is decoded
// block by block; where a lower rate is asked for, what the lower rate cannot hold is filtered out first, so nothing folds
// back as a tone that nobody spoke. What a file says about itself (counts, sizes, rates) is checked against what it holds.
package audio

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/tackle-dev/tackle/media"
)

// SampleRate is the name of the option with which a conversion to pcm asks for a rate, in samples a second.
const SampleRate = "sample_rate"

// Engine returns the engine.
func Engine() media.Engine {
	var over []string
	for _, token := range []string{"wav", "mp3", "flac", "ogg"} {
		f, _ := media.FormatOf(token)
		over = append(over, f.MIME)
	}
	return media.Engine{
		ID: "audio",
		Convert: []media.Convert{
			{From: []string{media.EmptyMIME}, To: []string{"wav"}, Keep: media.Exact, Do: blank},
			{From: over, To: []string{"wav"}, Keep: media.Exact, Do: toWAV},
			{From: over, To: []string{"pcm"}, Keep: media.Exact, Do: toPCM},
		},
		Edit: []media.Edit{
			{Over: over, Ops: []string{"extract.metadata"}, Do: describe},
			{Over: over, Ops: []string{"sanitize"}, Do: sanitize},
			{Over: over, Ops: []string{"extract.assets"}, Do: covers},
		},
	}
}

// BlankSeconds and BlankRate are what a new file has: silence of 16 bits in one channel.
const (
	BlankSeconds = 1
	BlankRate    = 44100
)

func blank(context.Context, *media.Request) (media.Result, error) {
	h := wavHeader(BlankRate, 1, 16, BlankSeconds*BlankRate)
	return media.Result{Media: &media.Payload{Data: append(h, make([]byte, BlankSeconds*BlankRate*2)...)}}, nil
}

// toWAV writes the samples as they are: with the bits that they have, 16 where the format has none.
func toWAV(ctx context.Context, r *media.Request) (media.Result, error) {
	l := r.Limits.WithDefaults()
	t, err := open(&r.In, l)
	if err != nil {
		return media.Result{}, err
	}
	bits := 16
	for bits < t.bits {
		bits += 8
	}
	size := bits / 8
	var out []byte
	if n := t.samples * int64(t.channels*size); n > 0 {
		if n > l.Bytes {
			return media.Result{}, tooLarge(&r.In, l)
		}
		out = make([]byte, 0, min(n, 64<<20)+128)
	}
	out = append(out, wavHeader(t.rate, t.channels, bits, 0)...)
	head := len(out)
	full := math.Ldexp(1, bits-1)
	err = t.each(ctx, func(block []float64) error {
		if int64(len(out)+len(block)*size) > l.Bytes {
			return tooLarge(&r.In, l)
		}
		for _, v := range block {
			n := int64(math.RoundToEven(max(-full, min(full-1, v*full))))
			for i := range size {
				out = append(out, byte(n>>(8*i)))
			}
		}
		return nil
	})
	if err != nil {
		return media.Result{}, err
	}
	copy(out, wavHeader(t.rate, t.channels, bits, (len(out)-head)/(t.channels*size)))
	if len(out)%2 == 1 {
		out = append(out, 0)
	}
	warnings := t.notes
	if r.In.MIME != "" && t.tagged {
		warnings = append(warnings, "Tags were not kept; extract metadata reads them from the source.")
	}
	return media.Result{Media: &media.Payload{Data: out}, Warnings: warnings}, nil
}

// toPCM decodes to one channel, at the rate that the option SampleRate asks for or the sound's own.
func toPCM(ctx context.Context, r *media.Request) (media.Result, error) {
	l := r.Limits.WithDefaults()
	t, err := open(&r.In, l)
	if err != nil {
		return media.Result{}, err
	}
	rate := t.rate
	switch v := r.Args[SampleRate].(type) {
	case int:
		rate = v
	case float64:
		rate = int(v)
	}
	if rate < minRate || rate > maxRate {
		return media.Result{}, media.Failf("%s is %d; rates from %d to %d are possible.", SampleRate, rate, minRate, maxRate)
	}
	if t.samples > 0 && float64(t.samples)/float64(t.rate)*float64(rate)*4 > float64(l.Bytes) {
		return media.Result{}, tooLarge(&r.In, l)
	}
	var out []byte
	put := func(samples []float32) error {
		if int64(len(out)+4*len(samples)) > l.Bytes {
			return tooLarge(&r.In, l)
		}
		for _, v := range samples {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
		return nil
	}
	var re *resampler
	if rate != t.rate {
		re = newResampler(t.rate, rate)
	}
	var mono []float32
	err = t.each(ctx, func(block []float64) error {
		mono = mono[:0]
		for i := 0; i < len(block); i += t.channels {
			sum := 0.0
			for _, v := range block[i : i+t.channels] {
				sum += v
			}
			mono = append(mono, float32(sum/float64(t.channels)))
		}
		if re != nil {
			return put(re.push(mono))
		}
		return put(mono)
	})
	if err == nil && re != nil {
		err = put(re.finish())
	}
	if err != nil {
		return media.Result{}, err
	}
	if out == nil {
		out = []byte{}
	}
	return media.Result{Media: &media.Payload{Data: out, MIME: media.PCM(rate)}, Warnings: t.notes}, nil
}

func tooLarge(p *media.Payload, l media.Limits) error {
	return media.Failf("%s decodes to more than the %d bytes that are allowed. Cut it into shorter pieces first.", p.Name, l.Bytes)
}

func describe(_ context.Context, r *media.Request) (media.Result, error) {
	l := r.Limits.WithDefaults()
	t, err := open(&r.In, l)
	if err != nil {
		return media.Result{}, err
	}
	m := map[string]any{"codec": t.codec, "sample_rate": t.rate, "channels": t.channels}
	if t.bits > 0 {
		m["bits_per_sample"] = t.bits
	}
	if t.samples >= 0 {
		seconds := float64(t.samples) / float64(t.rate)
		m["duration_seconds"] = math.Round(seconds*1000) / 1000
		if seconds > 0 {
			m["bitrate"] = int(float64(len(r.In.Data)) * 8 / seconds)
		}
	}
	tags := readTags(&r.In)
	if len(tags.text) > 0 {
		m["tags"] = tags.text
	}
	if len(tags.pictures) > 0 {
		m["pictures"] = len(tags.pictures)
	}
	if len(t.notes) > 0 {
		m["notes"] = t.notes
	}
	return media.Result{Read: &media.Reading{Data: m}}, nil
}
