/** Prints a message to the terminal after the start of the server: its URL, how to sign in, and the slide folder. */
import fs from 'node:fs';
import { type FirstAdmin, firstAdminFile } from '../accounts/first-admin.ts';
import type { Config } from '../platform/config.ts';

/** Prints the message. @param serverUrl URL for a browser on this machine @param firstAdmin null unless this start created the account */
export function printStartupMessage(config: Config, serverUrl: string, firstAdmin: FirstAdmin | null): void {
  console.log(`
${config.productName} is running at ${config.publicUrl ?? serverUrl}

  Sign in   ${howToSignIn(config, firstAdmin).join('\n            ')}
  Slides    ${config.slidesDir} (one folder for each dataset)
  Stop      Ctrl+C
`);
}

function howToSignIn({ dataDir, signIn }: Config, firstAdmin: FirstAdmin | null): string[] {
  if (!signIn.embedded) {
    return [
      `at ${signIn.external?.issuer}`, // not undefined: without the embedded sign-in, an external provider is configured
      'docs/security.md explains how to create the first administrator',
    ];
  }
  if (firstAdmin?.password) {
    return [
      `${firstAdmin.email}   password: ${firstAdmin.password}`,
      `shown only once; also stored in ${firstAdmin.passwordFile}`,
    ];
  }
  if (firstAdmin) return [`${firstAdmin.email}, with the password in ADMIN_PASSWORD`];
  const passwordFile = firstAdminFile(dataDir);
  if (!fs.existsSync(passwordFile)) return ['with your account'];
  return [`with your account; the first administrator's password is in ${passwordFile}`];
}
