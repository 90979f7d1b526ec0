/** Prints a message to the terminal after the start of the server: its address, how to sign in, and the slide folder. */
import fs from 'node:fs';
import { type FirstAdmin, firstAdminFile } from '../accounts/first-admin.ts';
import type { Config } from '../platform/config.ts';

/** Prints the message. @param address URL of this process on this machine @param firstAdmin null unless this start created it */
export function printStartupMessage(config: Config, address: string, firstAdmin: FirstAdmin | null): void {
  console.log(`
${config.productName} is running at ${config.publicUrl ?? address}

  Sign in   ${howToSignIn(config, firstAdmin).join('\n            ')}
  Slides    ${config.slidesDir} (one folder for each dataset)
  Stop      Ctrl+C
`);
}

function howToSignIn({ dataDir, signIn }: Config, firstAdmin: FirstAdmin | null): string[] {
  if (!signIn.embedded) {
    return [
      `at ${signIn.external?.issuer}`, // set, because one of the two kinds of sign-in is always configured
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
