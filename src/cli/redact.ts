/** Variables that hold secrets, ours and the AWS SDK's. */
const SECRET_VARIABLES = ['SKILLBUCKET_KEY', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
/** Shorter ones are no secrets, and would take ordinary words with them. */
const SHORTEST_SECRET = 8;

/** What secrets look like, wherever they come from; what is in `$1` stays. */
const SHAPES: readonly RegExp[] = [
  /(sb_[a-z0-9]{12}_)[A-Za-z0-9_-]+/g,
  /()eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g,
  /\b(bearer\s+)[A-Za-z0-9._~+/-]+=*/gi,
  /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#]+(?=@)/gi,
  /(x-amz-(?:signature|credential|security-token)=)[^&\s"]+/gi,
];

/** Takes the secrets of this call, and what looks like one, out of a text for people. */
export function redactor(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): (text: string) => string {
  const given = [
    ...args.filter((_, index) => args[index - 1] === '--key'),
    ...args.flatMap((one) => (one.startsWith('--key=') ? [one.slice('--key='.length)] : [])),
    ...SECRET_VARIABLES.flatMap((name) => env[name] ?? []),
  ];
  // A secret with a line break in it is quoted in pieces.
  const secrets = given
    .flatMap((one) => one.split(/\s+/))
    .filter((one) => one.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const named = secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
    return SHAPES.reduce((rest, shape) => rest.replaceAll(shape, '$1…'), named);
  };
}
