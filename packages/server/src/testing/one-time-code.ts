import { TOTP } from 'otpauth';

/** Returns the code that an authenticator app with this secret shows at the time `at`. @param secret in Base32 */
export function oneTimeCode(secret: string, at: Date): string {
  return new TOTP({ secret }).generate({ timestamp: at.getTime() });
}
