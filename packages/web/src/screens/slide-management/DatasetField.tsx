import { nameKey } from '@lamina/contract';
import { Autocomplete, type AutocompleteProps, type OptionsFilter } from '@mantine/core';
import { useDatasets } from '../../api/datasets.ts';
import { texts } from './texts.ts';

type DatasetFieldProps = Pick<
  AutocompleteProps,
  'value' | 'onChange' | 'description' | 'error' | 'placeholder' | 'inputWrapperOrder' | 'className' | 'ref'
>;

/** Maximum number of suggested datasets. */
const maxSuggestions = 50;

/**
 * Returns the datasets whose names contain the typed text, regardless of case. Returns no dataset when the text is the
 * complete name of a dataset, because the list of suggestions would then cover the button below the field.
 */
const filterDatasets: OptionsFilter = ({ options, search }) => {
  const searchKey = nameKey(search.trim()); // the form in which the server compares names
  const datasets = options.filter((option) => 'value' in option); // excludes groups of options, which the type allows
  if (datasets.some(({ value }) => nameKey(value) === searchKey)) return [];
  return datasets.filter(({ value }) => nameKey(value).includes(searchKey)).slice(0, maxSuggestions);
};

/** Text field for the name of a dataset, which suggests the existing datasets and accepts a new name. */
export function DatasetField({ inputWrapperOrder, ...props }: DatasetFieldProps) {
  const datasets = useDatasets().data ?? [];
  return (
    <Autocomplete
      label={texts.dataset}
      inputWrapperOrder={inputWrapperOrder ?? ['label', 'input', 'description']}
      data={datasets.map(({ name }) => name)}
      filter={filterDatasets}
      openOnFocus={false} // the upload panel focuses the field, and an open list would cover the buttons below it
      maxLength={200} // the limit of the API
      comboboxProps={{ withinPortal: false }}
      {...props}
    />
  );
}
