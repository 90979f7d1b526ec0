import {
  type AuditEntry,
  AuditResult,
  auditActionLabel,
  auditActions,
  auditResults,
  type Language,
} from '@lamina/contract';
import { Button, Checkbox, type ComboboxItem, Group, NativeSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useRef, useState } from 'react';
import { useSlidesByText } from '../../api/audit.ts';
import { messageOf } from '../../api/client.ts';
import { OptionsFailed } from '../../components/OptionsFailed.tsx';
import { nameOf } from '../../formatting/person.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import classes from './AuditLog.module.css';
import { type AuditLogFilter, auditLogPath } from './filter.ts';
import { texts } from './texts.ts';

interface AuditFilterFormProps {
  /** The filter of the listed entries. The form shows its values, also after a change. */
  readonly filter: AuditLogFilter;
  /** The listed entries, which may contain the name of the user or slide whose id is in the filter. */
  readonly entries: readonly AuditEntry[];
  readonly onApply: (filter: AuditLogFilter) => void;
}

const emptyFilter: AuditLogFilter = {
  who: '',
  action: '',
  result: '',
  target: '',
  from: '',
  to: '',
  sessions: '',
};
/** The search for a slide starts when the user has not typed for this time. */
const searchDelayMs = 250;

/** Filter form of the audit log. It applies the filter on submit only, because a partly typed e-mail address matches nothing. */
export function AuditFilterForm({ filter, entries, onApply }: AuditFilterFormProps) {
  const [values, setValues] = useState(filter);
  const [shownFilter, setShownFilter] = useState(filter); // the last filter whose values were put into the fields
  const applyButton = useRef<HTMLButtonElement>(null);
  // The state is set during rendering. If a `key` remounted the form instead, the keyboard focus would be lost.
  if (auditLogPath(filter) !== auditLogPath(shownFilter)) {
    setShownFilter(filter);
    setValues(filter);
  }
  const setValue = (name: keyof AuditLogFilter, value: string) => setValues({ ...values, [name]: value });
  const language = chosenLanguageOr('tr'); // 'tr': the language of this screen until the user chooses one
  const isFiltered = Object.values(filter).some((value) => value !== '');

  function submit(event: FormEvent) {
    event.preventDefault();
    onApply(values);
  }

  return (
    <form onSubmit={submit}>
      <div className={classes.fields}>
        <TextInput
          label={texts.who}
          description={personNameOf(values.who, entries) ?? texts.whoHint}
          inputWrapperOrder={['label', 'input', 'description']}
          autoComplete="off"
          spellCheck={false}
          value={values.who}
          onChange={(event) => setValue('who', event.currentTarget.value)}
        />
        <SlideField value={values.target} entries={entries} onChange={(value) => setValue('target', value)} />
        <NativeSelect
          label={texts.action}
          data={[{ value: '', label: texts.anyAction }, ...actionOptions(language)]}
          value={values.action}
          onChange={(event) => setValue('action', event.currentTarget.value)}
        />
        <NativeSelect
          label={texts.result}
          data={[{ value: '', label: texts.anyResult }, ...resultOptions(language)]}
          value={values.result}
          onChange={(event) => setValue('result', event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={texts.from}
          value={values.from}
          {...(values.to !== '' && { max: values.to })}
          onChange={(event) => setValue('from', event.currentTarget.value)}
        />
        <TextInput
          type="date"
          label={texts.to}
          value={values.to}
          {...(values.from !== '' && { min: values.from })}
          onChange={(event) => setValue('to', event.currentTarget.value)}
        />
      </div>
      <Checkbox
        mt="md"
        label={texts.showSessions}
        checked={values.sessions === '1'} // '1' or empty, as in the URL
        onChange={(event) => setValue('sessions', event.currentTarget.checked ? '1' : '')}
      />
      <Group gap="xs" mt="md">
        <Button ref={applyButton} type="submit">
          {texts.apply}
        </Button>
        {isFiltered && (
          <Button
            type="button"
            variant="default"
            onClick={() => {
              applyButton.current?.focus(); // this button disappears with the filter
              onApply(emptyFilter);
            }}
          >
            {texts.clear}
          </Button>
        )}
      </Group>
    </form>
  );
}

/** Returns the options of the action field, in alphabetical order. */
function actionOptions(language: Language) {
  return Object.keys(auditActions)
    .map((value) => ({ value, label: auditActionLabel(value, language) }))
    .sort((a, b) => a.label.localeCompare(b.label, language));
}

function resultOptions(language: Language) {
  return AuditResult.options.map((value) => ({ value, label: auditResults[value][language] }));
}

interface SlideFieldProps {
  /** Id of the chosen slide; empty when no slide is chosen. */
  readonly value: string;
  readonly entries: readonly AuditEntry[];
  readonly onChange: (value: string) => void;
}

/** Field in which the user searches for a slide and chooses it. */
function SlideField({ value, entries, onChange }: SlideFieldProps) {
  const [search, setSearch] = useState('');
  /** The slide that the user has chosen, because a later search may not find it; null before a choice. */
  const [chosen, setChosen] = useState<ComboboxItem | null>(null);
  const [debouncedSearch] = useDebouncedValue(search, searchDelayMs);
  const slides = useSlidesByText(debouncedSearch);
  // True while it is unknown whether a slide matches: the shown slides belong to an earlier text, or none are loaded yet.
  const isSearching =
    search !== debouncedSearch || slides.isPlaceholderData || (slides.data === undefined && !slides.isError);
  const foundOptions = (slides.data ?? []).map(({ id, fileName, dataset }) => ({
    value: id,
    label: dataset === null ? fileName : `${fileName} · ${dataset}`,
  }));
  // The field shows the name of the chosen slide only if the options contain the slide.
  const isChosenSlideMissing = value !== '' && !foundOptions.some((slide) => slide.value === value);
  const options = isChosenSlideMissing
    ? [
        chosen?.value === value ? chosen : { value, label: slideNameOf(value, entries) ?? value },
        ...foundOptions,
      ]
    : foundOptions;
  return (
    <Select
      size="md"
      label={texts.slide}
      placeholder={texts.anySlide}
      searchable
      clearable
      // Keeps all options: the server has already searched by name, organ and dataset, with the rules for Turkish letters.
      filter={(input) => input.options}
      nothingFoundMessage={isSearching ? sharedTexts.loading : slides.data && texts.noSlide}
      error={
        slides.isLoadingError && (
          <OptionsFailed
            message={messageOf(slides.error, texts.slidesFailed)}
            onRetry={() => void slides.refetch()}
          />
        )
      }
      data={options}
      value={value === '' ? null : value}
      onChange={(id, option) => {
        setChosen(option);
        onChange(id ?? '');
      }}
      onSearchChange={(text) => {
        // Choosing a slide fires this event, too, with the label of the slide. That label is not a search text.
        const isLabel = options.some(({ label }) => label === text);
        setSearch(isLabel ? '' : text.trim());
      }}
    />
  );
}

/** Returns the name of the user with this uid; null for an e-mail address, and when no entry contains the user. */
function personNameOf(uidOrEmail: string, entries: readonly AuditEntry[]): string | null {
  for (const { actor, target } of entries) {
    const people = [actor, target?.kind === 'account' ? target : null];
    const person = people.find((candidate) => candidate?.uid === uidOrEmail);
    if (!person) continue;
    return person.email === null ? texts.deletedAccount : nameOf({ ...person, email: person.email });
  }
  return null;
}

/** Returns the file name of the slide with this id; null when no entry contains the slide. */
function slideNameOf(id: string, entries: readonly AuditEntry[]): string | null {
  for (const { target } of entries) {
    if (target?.kind === 'image' && target.id === id) return target.fileName;
  }
  return null;
}
