/** What the person who started the program reads first. */
import fs from 'node:fs';
import type { Config } from '../config.ts';
import { type FirstAdmin, firstAdminFile } from '../first-admin.ts';

/** @param address where the program answers on this machine */
export function greet(config: Config, address: string, firstAdmin: FirstAdmin | null): void {
  console.log(`
${config.productName} is running at ${config.publicUrl ?? address}

  Sign in   ${howToSignIn(config, firstAdmin).join('\n            ')}
  Slides    ${config.slidesDir} (one folder for each dataset)
  Stop      Ctrl+C
`);
}

function howToSignIn({ dataDir, signIn }: Config, firstAdmin: FirstAdmin | null): string[] {
  if (!signIn.embedded) {
    return [`at ${signIn.external?.issuer}`, 'docs/security.md says how the first administrator is made'];
  }
  if (firstAdmin?.password) {
    return [
      `${firstAdmin.email}   password: ${firstAdmin.password}`,
      `shown this once, and kept in ${firstAdmin.passwordFile}`,
    ];
  }
  if (firstAdmin) return [`${firstAdmin.email}, with the password of the settings`];
  const file = firstAdminFile(dataDir);
  if (!fs.existsSync(file)) return ['with your account'];
  return [`with your account; the first administrator's password is kept in ${file}`];
}
