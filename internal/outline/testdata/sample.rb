module A
  class B < C
    CONST = 1
    def initialize(a)
      @a = a if a
    end
    def self.make(x) = new(x)
    private def priv
      x = <<~EOS
        def no
      EOS
    end
    class << self
      def s; end
    end
  end
end
def top?(a)
  [1].each do |x|
  end
end
