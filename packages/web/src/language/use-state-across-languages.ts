import { type Dispatch, type SetStateAction, useEffect, useState } from 'react';
import { chosenLanguage } from './language.ts';

/** Values by name. They belong to mounted components, and to components that a change of the language is remounting. */
const values = new Map<string, unknown>();

/**
 * Like `useState`, but the state survives a change of the language, which remounts all screens. Used for state that the user could not
 * restore. The state is lost when the component is unmounted for any other reason.
 *
 * @param name identifies the state; used by one mounted component at a time
 */
export function useStateAcrossLanguages<Value>(
  name: string,
  initialValue: Value | (() => Value),
): [Value, Dispatch<SetStateAction<Value>>] {
  const [value, setValue] = useState<Value>(values.has(name) ? (values.get(name) as Value) : initialValue);

  useEffect(() => {
    const language = chosenLanguage();
    values.set(name, value);
    return () => {
      // When the language has changed, the component is being remounted and needs the value again.
      if (chosenLanguage() === language) values.delete(name);
    };
  }, [name, value]);

  return [value, setValue];
}
