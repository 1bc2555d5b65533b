package core

// Live reports whether the stream has read what was stored before it began.
func (s *Stream) Live() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}
