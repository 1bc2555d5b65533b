package fit

import "github.com/tackle-dev/tackle/model"

// Info returns known with the fields of better that are not zero.
func Info(known, better model.Info) model.Info {
	set := func(s *string, v string) {
		if v != "" {
			*s = v
		}
	}
	set(&known.Provider, better.Provider)
	set(&known.Name, better.Name)
	if better.Window > 0 {
		known.Window = better.Window
	}
	if better.Output > 0 {
		known.Output = better.Output
	}
	if better.Price != (model.Price{}) {
		known.Price = better.Price
	}
	known.Images = known.Images || better.Images
	known.Files = known.Files || better.Files
	known.Audio = known.Audio || better.Audio
	return known
}
