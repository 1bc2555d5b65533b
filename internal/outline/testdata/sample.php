<html><?php
namespace App\Models;
use Foo\{A, B};
#[Attr]
abstract class User extends Model implements X {
    use Trait1;
    const A = 1;
    private string $x = 'a{';
    public function __construct(private int $a) { $s = <<<EOT
  } function no() {
EOT;
    }
    abstract protected function foo(): ?string;
    public static function &ref(array $a = []): array { return fn($x) => $x; }
}
function helper($a) { ?> <b>{</b> <?php }
interface I { public function z(); }
?>
