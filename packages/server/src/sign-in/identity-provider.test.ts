/** Tests the validation of ID tokens with a real OpenID Connect provider that runs in the test process. */
import { createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newKey, type OidcProvider, type SigningKey, startOidcProvider } from '../testing/oidc-provider.ts';
import { createIdentityProvider, type IdentityProvider } from './identity-provider.ts';

let oidc: OidcProvider;
let provider: IdentityProvider;
const now = () => new Date();

beforeAll(async () => {
  oidc = await startOidcProvider();
});
afterAll(() => oidc.close());

beforeEach(() => {
  oidc.fail(null);
  provider = providerWith();
});

function providerWith(settings: { issuer?: string; audience?: string; keyCooldownMs?: number } = {}) {
  const { keyCooldownMs = 30_000, issuer = oidc.issuer, audience = oidc.clientId } = settings;
  const settingsOfProvider = { issuer, audience, clientId: oidc.clientId, name: null, linkByEmail: false };
  return createIdentityProvider({ provider: settingsOfProvider, now, keyCooldownMs });
}

/** Returns the time `fromNow` seconds after now, in seconds since 1970. */
const seconds = (fromNow = 0) => Math.floor(now().getTime() / 1000) + fromNow;

interface TokenParts {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: SigningKey;
}

/** Returns a valid ID token with changes, signed with the key of the provider or with `key`. The value `undefined` omits a claim. */
function makeToken({ claims = {}, header = {}, key = oidc.key() }: TokenParts = {}): Promise<string> {
  const allClaims = {
    iss: oidc.issuer,
    aud: oidc.clientId,
    sub: 'someone',
    iat: seconds(),
    exp: seconds(300),
    nonce: 'n-1',
    email: 'someone@example.org',
    ...claims,
  };
  return new SignJWT(allClaims)
    .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
    .sign(key.privateKey);
}

const invalid = { code: 'token_invalid', status: 401 };
const unverifiable = { code: 'token_unverifiable', status: 503 };

describe('personOf (verification of an OIDC ID token)', () => {
  it('returns the user whom a token of the provider identifies', async () => {
    const idToken = await oidc.signIn('ipek', 'n-1');
    expect(await provider.personOf(idToken, 'n-1')).toMatchObject({
      issuer: oidc.issuer,
      subject: 'ipek',
      email: 'ipek@example.org',
      isEmailVerified: true,
      displayName: 'ipek',
    });
  });

  it('accepts a token with a nonce when the request to verify it states no nonce', async () => {
    expect(await provider.personOf(await oidc.signIn('ipek', 'n-1'), undefined)).toMatchObject({
      subject: 'ipek',
    });
  });

  it.each<[string, () => TokenParts]>([
    ['another issuer', () => ({ claims: { iss: 'https://elsewhere.example.org' } })],
    ['no issuer', () => ({ claims: { iss: undefined } })],
    ['another audience', () => ({ claims: { aud: 'another-product' } })],
    ['no audience', () => ({ claims: { aud: undefined } })],
    [
      'several audiences and no authorized party (azp)',
      () => ({ claims: { aud: [oidc.clientId, 'other'] } }),
    ],
    ['another authorized party (azp)', () => ({ claims: { azp: 'another-product' } })],
    ['no subject', () => ({ claims: { sub: undefined } })],
    ['an empty subject', () => ({ claims: { sub: '' } })],
    ['a subject that contains U+0000', () => ({ claims: { sub: 'some\u0000one' } })],
    ['a subject that is not a string', () => ({ claims: { sub: { $ne: 1 } } })],
    ['an expiry time more than 60 s in the past', () => ({ claims: { exp: seconds(-61) } })],
    ['no expiry time', () => ({ claims: { exp: undefined } })],
    ['a not-before time (nbf) two minutes in the future', () => ({ claims: { nbf: seconds(120) } })],
    ['no issue time (iat)', () => ({ claims: { iat: undefined } })],
    ['an issue time more than 11 minutes in the past', () => ({ claims: { iat: seconds(-661) } })],
    ['an issue time two minutes in the future', () => ({ claims: { iat: seconds(120) } })],
    ['another nonce', () => ({ claims: { nonce: 'n-2' } })],
    ['no nonce', () => ({ claims: { nonce: undefined } })],
    ['the type of an access token', () => ({ header: { typ: 'at+jwt' } })],
    ['the type of a logout token', () => ({ header: { typ: 'logout+jwt' } })],
    ['an unknown key id', () => ({ header: { kid: 'unknown' } })],
    ['an unknown critical extension', () => ({ header: { crit: ['x'], x: 1 } })],
  ])('rejects a token with %s', async (_, parts) => {
    await expect(provider.personOf(await tokenWith(parts()), 'n-1')).rejects.toMatchObject(invalid);
  });

  /** The library does not sign a token with an unknown `crit` header, so such a token gets the signature of another token. */
  async function tokenWith(parts: TokenParts): Promise<string> {
    if (!parts.header?.crit) return makeToken(parts);
    const [, ...rest] = (await makeToken()).split('.');
    const header = { alg: 'RS256', kid: oidc.key().kid, ...parts.header };
    return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...rest].join('.');
  }

  it.each([
    [
      'several audiences and this product as authorized party',
      () => ({ aud: [oidc.clientId, 'other'], azp: oidc.clientId }),
    ],
    ['times that differ from the clock by 30 s', () => ({ exp: seconds(-30), iat: seconds(30) })],
  ])('accepts a token with %s', async (_, claims) => {
    const idToken = await makeToken({ claims: claims() });
    expect(await provider.personOf(idToken, 'n-1')).toMatchObject({ subject: 'someone' });
  });

  it('accepts a token for the configured audience even when this differs from the client id', async () => {
    const withApiAudience = providerWith({ audience: 'api://slides' });
    const idToken = await makeToken({ claims: { aud: 'api://slides', azp: oidc.clientId } });
    expect(await withApiAudience.personOf(idToken, undefined)).toMatchObject({ subject: 'someone' });
    await expect(withApiAudience.personOf(await makeToken(), undefined)).rejects.toMatchObject(invalid);
  });

  it('rejects a token without a signature', async () => {
    const claims = {
      sub: 'someone',
      iss: oidc.issuer,
      aud: oidc.clientId,
      iat: seconds(),
      exp: seconds(300),
    };
    await expect(provider.personOf(new UnsecuredJWT(claims).encode(), undefined)).rejects.toMatchObject(
      invalid,
    );
    const [header, payload] = (await makeToken()).split('.');
    await expect(provider.personOf(`${header}.${payload}.`, undefined)).rejects.toMatchObject(invalid);
  });

  it('rejects a token that is signed (HS256) with the public key of the provider as a shared secret', async () => {
    const { publicJwk, kid } = oidc.key();
    const pem = createPublicKey({ key: publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const claims = {
      sub: 'someone',
      iss: oidc.issuer,
      aud: oidc.clientId,
      iat: seconds(),
      exp: seconds(300),
    };
    const idToken = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(Buffer.from(pem));
    await expect(provider.personOf(idToken, undefined)).rejects.toMatchObject(invalid);
  });

  it('rejects a token that is signed with a key of another party, whatever key id the token names', async () => {
    const foreign = await newKey();
    await expect(provider.personOf(await makeToken({ key: foreign }), 'n-1')).rejects.toMatchObject(invalid);
    const withKnownKeyId = await makeToken({ key: foreign, header: { kid: oidc.key().kid } });
    await expect(provider.personOf(withKnownKeyId, 'n-1')).rejects.toMatchObject(invalid);
    const withEmbeddedKey = await makeToken({
      key: foreign,
      header: { jwk: foreign.publicJwk, kid: oidc.key().kid },
    });
    await expect(provider.personOf(withEmbeddedKey, 'n-1')).rejects.toMatchObject(invalid);
  });

  it('rejects a token that names the URL of its key (jku or x5u), without a request to this URL', async () => {
    const foreign = await newKey();
    let visits = 0;
    const attacker = createServer((_, response) => {
      visits += 1;
      response.end(JSON.stringify({ keys: [foreign.publicJwk] }));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => attacker.once('listening', resolve));
    const address = attacker.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const jku = `http://127.0.0.1:${port}/keys`;
    for (const header of [{ jku }, { x5u: jku }, { jku, kid: oidc.key().kid }]) {
      await expect(provider.personOf(await makeToken({ key: foreign, header }), 'n-1')).rejects.toMatchObject(
        invalid,
      );
    }
    attacker.close();
    expect(visits).toBe(0);
  });

  it('rejects malformed text and a token with one changed character', async () => {
    const idToken = await makeToken();
    const places = idToken.split('').flatMap((character, at) => (character === '.' || at % 7 ? [] : [at])); // every seventh
    for (const at of places) {
      // The last character of the signature has unused bits, so a change of it may not change the signature.
      if (at === idToken.length - 1) continue;
      const other = idToken[at] === 'A' ? 'B' : 'A';
      const changed = idToken.slice(0, at) + other + idToken.slice(at + 1);
      await expect(provider.personOf(changed, 'n-1')).rejects.toMatchObject(invalid);
    }
    for (const malformed of [
      '.',
      '..',
      'a.b',
      'a.b.c',
      'a.b.c.d.e',
      `${idToken}.x`,
      `x${idToken}`,
      '\u0000.\u0000.',
    ]) {
      await expect(provider.personOf(malformed, 'n-1')).rejects.toMatchObject(invalid);
    }
  });
});

describe('the e-mail address and the flag isEmailVerified of a user', () => {
  it.each([
    [
      'an unverified e-mail address',
      { email: 'a@example.org', email_verified: false },
      ['a@example.org', false],
    ],
    [
      'an e-mail address without the claim email_verified',
      { email: 'a@example.org' },
      ['a@example.org', false],
    ],
    ['a verified e-mail address', { email: 'a@example.org', email_verified: true }, ['a@example.org', true]],
    [
      'the string "true" as email_verified',
      { email: 'a@example.org', email_verified: 'true' },
      ['a@example.org', true],
    ],
    [
      'an e-mail address in preferred_username only',
      { email: undefined, preferred_username: 'b@example.org', email_verified: true },
      ['b@example.org', false],
    ],
    ['no e-mail address', { email: undefined, preferred_username: 'ipek' }, [null, false]],
    ['an e-mail claim that is not an address', { email: 'ipek', email_verified: true }, [null, false]],
  ])('are $2 for an ID token with %s', async (_, claims, [email, isEmailVerified]) => {
    const person = await provider.personOf(await makeToken({ claims }), 'n-1');
    expect([person.email, person.isEmailVerified]).toEqual([email, isEmailVerified]);
  });
});

it.each([
  ['has no special characters', 'the unchanged name', 'Nehir Şahin', 'Nehir Şahin'],
  [
    'has a line break, NUL and outer spaces',
    'the name with one space between the words',
    ' Nehir\n\u0000Şahin ',
    'Nehir Şahin',
  ],
  [
    'has a bidirectional control and a zero-width space',
    'the name without these characters',
    'Nehir\u202e \u200bŞahin',
    'Nehir Şahin',
  ],
  ['has 300 characters', 'the first 100 characters', 'ğ'.repeat(300), 'ğ'.repeat(100)],
  ['is empty', 'null', '', null],
  ['is a number', 'null', 42, null],
  ['is missing', 'null', undefined, null],
])(
  'personOf, for an OIDC ID token whose claim "name" %s, returns %s as the display name',
  async (_, __, name, displayName) => {
    const person = await provider.personOf(await makeToken({ claims: { name } }), 'n-1');
    expect(person.displayName).toBe(displayName);
  },
);

describe('signing keys of the OpenID Connect provider', () => {
  const countKeyRequests = () => oidc.requests.filter((each) => each === 'GET /jwks').length;

  it('are fetched once when the server verifies twenty tokens concurrently', async () => {
    const before = countKeyRequests();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => makeToken()));
    await Promise.all(tokens.map((each) => provider.personOf(each, 'n-1')));
    expect(countKeyRequests() - before).toBe(1);
  });

  it('are not fetched for a malformed token or a token of another issuer', async () => {
    const before = oidc.requests.length;
    const elsewhere = await makeToken({ claims: { iss: 'https://elsewhere.example.org' } });
    for (const idToken of ['a.b.c', elsewhere]) {
      await expect(provider.personOf(idToken, 'n-1')).rejects.toMatchObject(invalid);
    }
    expect(oidc.requests.length).toBe(before);
  });

  it('are not fetched again for twenty tokens with unknown key ids within 30 s', async () => {
    await provider.personOf(await makeToken(), 'n-1');
    const before = countKeyRequests();
    for (let i = 0; i < 20; i++) {
      const unknown = await makeToken({ header: { kid: `unknown-${i}` } });
      await expect(provider.personOf(unknown, 'n-1')).rejects.toMatchObject(invalid);
    }
    expect(countKeyRequests()).toBe(before);
  });

  it('are replaced when the provider changes its key: the new key is accepted and the old one rejected', async () => {
    const eager = providerWith({ keyCooldownMs: 0 });
    const old = oidc.key();
    await eager.personOf(await makeToken(), 'n-1');
    await oidc.changeKey();
    expect(await eager.personOf(await makeToken(), 'n-1')).toMatchObject({ subject: 'someone' });
    await expect(eager.personOf(await makeToken({ key: old }), 'n-1')).rejects.toMatchObject(invalid);
  });
});

describe('an OpenID Connect provider', () => {
  it.each([
    ['answers every request with status 500', 'error'],
    ['closes every connection', 'disconnect'],
    ['redirects every request', 'redirect'],
  ] as const)(
    'that %s makes token verification return 503 until the provider works again',
    async (_, how) => {
      const idToken = await makeToken();
      oidc.fail(how);
      await expect(provider.personOf(idToken, 'n-1')).rejects.toMatchObject(unverifiable);
      oidc.fail(null);
      expect(await provider.personOf(idToken, 'n-1')).toMatchObject({ subject: 'someone' });
    },
  );

  it('that is unreachable does not prevent the verification of tokens with cached keys', async () => {
    await provider.personOf(await makeToken(), 'n-1');
    oidc.fail('disconnect');
    expect(await provider.personOf(await makeToken(), 'n-1')).toMatchObject({ subject: 'someone' });
  });

  it('whose discovery document names another issuer makes token verification return 503', async () => {
    const byAnotherName = oidc.issuer.replace('127.0.0.1', 'localhost');
    const misled = providerWith({ issuer: byAnotherName });
    const idToken = await makeToken({ claims: { iss: byAnotherName } });
    await expect(misled.personOf(idToken, 'n-1')).rejects.toMatchObject(unverifiable);
  });
});
