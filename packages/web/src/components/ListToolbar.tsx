import { Button, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconX } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import classes from './ListToolbar.module.css';
import { texts } from './texts.ts';

/** One choice of the toolbar: a filter or the order of the list. */
export interface ToolbarChoice {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

interface ListToolbarProps {
  readonly searchLabel: string;
  readonly searchHint?: string;
  /** The search that the list shows; the typed text becomes the search after a delay. */
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly choices?: readonly ToolbarChoice[];
  /** The number of entries as text, such as '3 slides'; null while it is unknown. */
  readonly countText: string | null;
  /** Clears the search and the filters; null when none is set. */
  readonly onClear: (() => void) | null;
  /** Further fields, between the choices and the number of entries. */
  readonly children?: ReactNode;
}

/** Time without typing after which the search starts. */
const searchDelayMs = 250;
const searchMaxLength = 200; // limit of the API

/** The toolbar above a list: search, filters, order, number of entries, and a button that clears search and filters. */
export function ListToolbar({
  searchLabel,
  searchHint,
  search,
  onSearch,
  choices = [],
  countText,
  onClear,
  children,
}: ListToolbarProps) {
  const [typedText, setTypedText] = useState(search);
  const [previousSearch, setPreviousSearch] = useState(search);
  const searchLater = useDebouncedCallback((text: string) => onSearch(text.trim()), searchDelayMs);
  // A search that was not typed here, for example after the browser's back button, replaces the typed text. The state is set during
  // rendering, so that the field never shows the old text above the new list.
  if (search !== previousSearch) {
    setPreviousSearch(search);
    if (search !== typedText.trim()) setTypedText(search);
  }

  return (
    <div className={classes.toolbar}>
      <TextInput
        className={classes.search ?? ''}
        type="search"
        label={searchLabel}
        {...(searchHint !== undefined && { placeholder: searchHint })}
        maxLength={searchMaxLength}
        value={typedText}
        onChange={({ currentTarget: { value } }) => {
          setTypedText(value);
          searchLater(value);
        }}
      />
      {choices.map(({ label, value, options, onChange }) => (
        <Select
          key={label}
          size="md"
          label={label}
          data={[...options]}
          value={value}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(chosen) => onChange(chosen ?? '')} // never null, because `allowDeselect` is false
        />
      ))}
      {children}
      <div className={classes.state}>
        <Text size="sm" c="dimmed" aria-live="polite">
          {countText}
        </Text>
        {onClear !== null && (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconX size={16} aria-hidden />}
            onClick={() => {
              searchLater.cancel();
              setTypedText('');
              onClear();
            }}
          >
            {texts.clear}
          </Button>
        )}
      </div>
    </div>
  );
}
