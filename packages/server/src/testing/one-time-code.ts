import { TOTP } from 'otpauth';

/** What an authenticator app with this secret shows at that moment. @param secret base32 */
export function oneTimeCode(secret: string, at: Date): string {
  return new TOTP({ secret }).generate({ timestamp: at.getTime() });
}
