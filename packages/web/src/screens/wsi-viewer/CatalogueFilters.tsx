import { Button, NativeSelect } from '@mantine/core';
import type { Choice, ImageOrder, Wish } from './catalogue.ts';
import { imageOrders } from './catalogue.ts';
import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

interface CatalogueFiltersProps {
  /** Not known yet what there is to choose from. */
  readonly isLoading: boolean;
  readonly datasets: readonly Choice[];
  readonly organs: readonly Choice[];
  readonly wish: Wish;
  readonly order: ImageOrder;
  readonly onWish: (wish: Wish) => void;
  readonly onOrder: (order: ImageOrder) => void;
  readonly onClear: () => void;
}

/** What the list is narrowed to, and its order. What offers no choice is left out. */
export function CatalogueFilters(props: CatalogueFiltersProps) {
  const { isLoading, datasets, organs, wish, order, onWish, onOrder, onClear } = props;
  const isNarrowed = wish.query !== '' || wish.dataset !== '' || wish.organ !== '';
  return (
    <div className={classes.filters}>
      {isLoading && (
        <>
          <span className={classes.filterComing} />
          <span className={classes.filterComing} />
        </>
      )}
      {datasets.length > 1 && (
        <Filter
          label={texts.filterByDataset}
          all={texts.allDatasets}
          choices={datasets}
          value={wish.dataset}
          onChange={(dataset) => onWish({ ...wish, dataset })}
        />
      )}
      {organs.length > 1 && (
        <Filter
          label={texts.filterByOrgan}
          all={texts.allOrgans}
          choices={organs}
          value={wish.organ}
          onChange={(organ) => onWish({ ...wish, organ })}
        />
      )}
      <NativeSelect
        size="sm"
        aria-label={texts.sortBy}
        value={order}
        data={imageOrders.map((value) => ({ value, label: texts.orders[value] }))}
        onChange={({ currentTarget }) =>
          onOrder(imageOrders.find((each) => each === currentTarget.value) ?? 'name')
        }
      />
      <Button
        className={classes.clear ?? ''}
        size="sm"
        variant="subtle"
        disabled={!isNarrowed}
        onClick={onClear}
      >
        {texts.clearFilters}
      </Button>
    </div>
  );
}

interface FilterProps {
  readonly label: string;
  readonly all: string;
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Filter({ label, all, choices, value, onChange }: FilterProps) {
  const options = choices.map(({ key, name, count }) => ({ value: key, label: texts.counted(name, count) }));
  return (
    <NativeSelect
      size="sm"
      aria-label={label}
      value={value}
      data-chosen={value !== '' || undefined}
      data={[{ value: '', label: all }, ...options]}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
