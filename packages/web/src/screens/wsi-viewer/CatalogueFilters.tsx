import { ImageOrder } from '@lamina/contract';
import { Button, NativeSelect } from '@mantine/core';
import type { CatalogueFilter, Choice } from './catalogue.ts';
import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

interface CatalogueFiltersProps {
  /** Whether the choices of the filters are loading; placeholders are shown in their place. */
  readonly isLoading: boolean;
  readonly datasets: readonly Choice[];
  readonly organs: readonly Choice[];
  readonly filter: CatalogueFilter;
  readonly order: ImageOrder;
  readonly onFilterChange: (filter: CatalogueFilter) => void;
  readonly onOrderChange: (order: ImageOrder) => void;
  readonly onClear: () => void;
}

/** The fields above the catalogue that filter its images by dataset and organ, and sort them. A filter with only one choice is hidden. */
export function CatalogueFilters(props: CatalogueFiltersProps) {
  const { isLoading, datasets, organs, filter, order, onFilterChange, onOrderChange, onClear } = props;
  // `query` is the text of the search field, which another component renders; clearing the filters clears it too.
  const isFiltered = filter.query !== '' || filter.dataset !== '' || filter.organ !== '';
  return (
    <div className={classes.filters}>
      {isLoading && (
        <>
          <span className={classes.filterPlaceholder} />
          <span className={classes.filterPlaceholder} />
        </>
      )}
      {datasets.length > 1 && (
        <Filter
          label={texts.filterByDataset}
          allLabel={texts.allDatasets}
          choices={datasets}
          value={filter.dataset}
          onChange={(dataset) => onFilterChange({ ...filter, dataset })}
        />
      )}
      {organs.length > 1 && (
        <Filter
          label={texts.filterByOrgan}
          allLabel={texts.allOrgans}
          choices={organs}
          value={filter.organ}
          onChange={(organ) => onFilterChange({ ...filter, organ })}
        />
      )}
      <NativeSelect
        size="xs"
        aria-label={texts.sortBy}
        value={order}
        data={ImageOrder.options.map((value) => ({ value, label: texts.orders[value] }))}
        onChange={({ currentTarget }) =>
          onOrderChange(ImageOrder.options.find((option) => option === currentTarget.value) ?? 'name')
        }
      />
      {isFiltered && (
        <Button size="xs" variant="subtle" onClick={onClear}>
          {texts.clearFilters}
        </Button>
      )}
    </div>
  );
}

interface FilterProps {
  readonly label: string;
  /** Label of the option that sets no filter. */
  readonly allLabel: string;
  readonly choices: readonly Choice[];
  /** Key of the chosen option; empty when no filter is set. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Filter({ label, allLabel, choices, value, onChange }: FilterProps) {
  const options = choices.map(({ key, name, count }) => ({ value: key, label: texts.counted(name, count) }));
  return (
    <NativeSelect
      size="xs"
      aria-label={label}
      value={value}
      data-chosen={value !== '' || undefined}
      data={[{ value: '', label: allLabel }, ...options]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
