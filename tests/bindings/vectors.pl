# vectors.pl: cases of values from standard input, run in Perl over what SWIG made of the headers. A case is a line of
# fields with tabs between: `accept`, name, format, hex, packed hex, digest; or `refuse`, name, format, hex, code, position.
use strict;
use warnings;
use Chordal;

my ($json, $packed) = ($Chordal::CHORDAL_FORMAT_JSON, $Chordal::CHORDAL_FORMAT_PACKED);
my $host = Chordal::chordal_host_open_abi1(undef);
my ($passed, $failed) = (0, 0);

sub check {
    my ($what, $found, $wanted) = @_;
    $found eq $wanted ? $passed++ : $failed++;
    print "$what: $found, not $wanted\n" if $found ne $wanted;
}

sub run_case {
    my ($verdict, $name, $format, $hex, @wanted) = @_;
    my $value = eval { Chordal::chordal_value_decode($host, $format, pack "H*", $hex) };
    return check($name, join(" ", (split " ", $@)[0, 1]), "@wanted") if $verdict eq "refuse";
    return check($name, $@, "a value") unless defined $value;
    check("$name packed", unpack("H*", Chordal::chordal_value_encode($value, $packed, 1 << 20)), $wanted[0]);
    check("$name digest", sprintf("%016x", Chordal::chordal_value_digest($value)), $wanted[1]);
    my $again = Chordal::chordal_value_decode($host, $json, Chordal::chordal_value_encode($value, $json, 1 << 20));
    check("$name equal", Chordal::chordal_value_equal($value, $again), 1);
    Chordal::chordal_value_unref($_) for $value, $again;
}

while (my $line = <STDIN>) {
    chomp $line;
    run_case(split /\t/, $line);
}
Chordal::chordal_host_close($host);
print "$passed passed, $failed failed\n";
exit($failed != 0);
