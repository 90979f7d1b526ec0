/** The language of the interface, which is also the language of e-mails to a person who is signed in. */
import { changeLanguage } from '@lamina/contract';
import { setLocalChoiceListener } from '../language/language.ts';
import { call } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

/** Stores each choice of a signed-in person with the account, in the background. */
export function connectLanguage(): void {
  setLocalChoiceListener((choice) => {
    if (storedToken() === null) return;
    // The interface does not depend on it: when it fails, e-mails stay in the earlier language.
    call(changeLanguage, { body: { language: choice === 'mixed' ? 'tr' : choice } }).catch(() => undefined);
  });
}
