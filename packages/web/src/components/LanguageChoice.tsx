import { Group, UnstyledButton } from '@mantine/core';
import {
  bilingualLanguageLabel,
  chooseLanguage,
  offeredLanguages,
  useLanguage,
} from '../language/language.ts';
import classes from './LanguageChoice.module.css';

/** Language selection for pages without a user menu. After a choice, `App` focuses the element with `data-language-choice` again. */
export function LanguageChoice() {
  const chosen = useLanguage();
  return (
    <Group component="nav" aria-label={bilingualLanguageLabel} gap="xs" justify="center" px="md">
      {offeredLanguages.map(({ choice, name, htmlLang: lang }) => (
        <UnstyledButton
          key={choice}
          className={classes.choice}
          lang={lang}
          aria-pressed={choice === chosen}
          data-language-choice={choice === chosen || undefined}
          onClick={() => chooseLanguage(choice)}
        >
          {name}
        </UnstyledButton>
      ))}
    </Group>
  );
}
