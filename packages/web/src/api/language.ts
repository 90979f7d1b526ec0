/** Keeps the language of a signed-in user's e-mails the same as the language of the interface. */
import { changeLanguage } from '@lamina/contract';
import { setLocalChoiceListener } from '../language/language.ts';
import { call } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

/** Sends each new choice of language to the server, while a user is signed in. */
export function connectLanguage(): void {
  setLocalChoiceListener((choice) => {
    if (storedToken() === null) return;
    // A failure is ignored: the interface does not depend on the call, only e-mails stay in the previous language.
    // An interface that mixes both languages ('mixed') has no equivalent in e-mails: these are then in Turkish.
    call(changeLanguage, { body: { language: choice === 'mixed' ? 'tr' : choice } }).catch(() => undefined);
  });
}
