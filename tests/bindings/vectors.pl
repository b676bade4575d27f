# vectors.pl FOLDER: the vectors of `values`, run in Perl over what SWIG made of the headers.
use strict;
use warnings;
use Chordal;
use JSON::PP;

my ($folder) = @ARGV;
my ($json, $packed) = ($Chordal::CHORDAL_FORMAT_JSON, $Chordal::CHORDAL_FORMAT_PACKED);
my $host = Chordal::chordal_host_open_abi1(undef);
my ($passed, $failed) = (0, 0);

sub check {
    my ($what, $found, $wanted) = @_;
    my $same = defined $found && $found eq $wanted;
    $same ? $passed++ : $failed++;
    print "$what: ", $found // "nothing", ", not $wanted\n" unless $same;
}

sub read_file {
    my ($path) = @_;
    open my $file, "<", $path or die "$path: $!";
    local $/;
    return JSON::PP->new->utf8->decode(<$file>);
}

# What a case says in one encoding, as bytes.
sub input {
    my ($case) = @_;
    return ($packed, pack "H*", $case->{packed}) if exists $case->{packed};
    return ($json, pack "H*", $case->{json_hex}) if exists $case->{json_hex};
    return unless exists $case->{json};
    my $text = $case->{json};
    utf8::encode($text);
    return ($json, $text);
}

sub accept_case {
    my ($name, $case) = @_;
    my ($format, $bytes) = input($case);
    my $value = eval { Chordal::chordal_value_decode($host, $format, $bytes) };
    return check($name, $@, "a value") unless defined $value;
    check("$name packed", unpack("H*", Chordal::chordal_value_encode($value, $packed, 1 << 20)), $case->{packed});
    check("$name digest", sprintf("%016x", Chordal::chordal_value_digest($value)), $case->{digest});
    my $text = Chordal::chordal_value_encode($value, $json, 1 << 20);
    my $again = Chordal::chordal_value_decode($host, $json, $text);
    check("$name equal", Chordal::chordal_value_equal($value, $again), 1);
    Chordal::chordal_value_unref($_) for $value, $again;
}

sub refuse_case {
    my ($name, $case) = @_;
    return if exists $case->{depth};
    my ($format, $bytes) = input($case) or return;
    eval { Chordal::chordal_value_decode($host, $format, $bytes) };
    my ($code, $position) = split " ", $@;
    check($name, "$code $position", "$case->{code} $case->{position}");
}

for my $path (sort glob "$folder/values/*.json") {
    for my $case (@{read_file($path)->{cases}}) {
        next if $case->{arguments};
        my $name = ($path =~ s|.*/||r) . ": $case->{name}";
        $path =~ m|/accept_| ? accept_case($name, $case) : refuse_case($name, $case);
    }
}
Chordal::chordal_host_close($host);
print "$passed passed, $failed failed\n";
exit($failed != 0);
