import { Group, UnstyledButton } from '@mantine/core';
import { chooseLanguage, languageChoiceLabel, offeredLanguages, useLanguage } from '../language.ts';
import classes from './LanguageChoice.module.css';

/** The languages of the interface, beneath a page for whoever has no menu yet. */
export function LanguageChoice() {
  const chosen = useLanguage();
  return (
    <Group component="nav" aria-label={languageChoiceLabel} gap="xs" justify="center" px="md">
      {offeredLanguages.map(({ choice, name, lang }) => (
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
