import { Alert, Button, TextInput, Title, VisuallyHidden } from '@mantine/core';
import { IconChevronRight, IconSearch } from '@tabler/icons-react';
import { useDeferredValue, useMemo, useState } from 'react';
import type { Catalogue, CatalogueImage } from '../../api/images.ts';
import { Loading } from '../../components/Loading.tsx';
import { type DatasetGroup, groupByDataset, search } from './catalogue.ts';
import classes from './ImageCatalog.module.css';
import { ImageRow } from './ImageRow.tsx';
import { texts } from './texts.ts';

interface ImageCatalogProps {
  readonly catalogue: Catalogue;
  readonly selectedId: string | null;
  readonly session: string | null;
  /** The mouse button is down on it; when it is let go the image is selected. */
  readonly onPress: (image: CatalogueImage) => void;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
}

/** Every image one may look at, by dataset, with a search. */
export function ImageCatalog({ catalogue, ...rowProps }: ImageCatalogProps) {
  const [query, setQuery] = useState('');
  return (
    <>
      <div className={classes.head}>
        <Title order={1} size="h4">
          {texts.imageCatalog}
        </Title>
        <TextInput
          type="search"
          placeholder={texts.searchPlaceholder}
          aria-label={texts.searchPlaceholder}
          leftSection={<IconSearch size={18} aria-hidden />}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
      </div>
      <div className={classes.list}>
        <CatalogueList catalogue={catalogue} query={query} {...rowProps} />
      </div>
    </>
  );
}

function CatalogueList({ catalogue, query, ...rowProps }: ImageCatalogProps & { readonly query: string }) {
  const groups = useMemo(() => groupByDataset(catalogue.images), [catalogue.images]);
  const deferredQuery = useDeferredValue(query);
  const found = useMemo(() => search(groups, deferredQuery), [groups, deferredQuery]);

  if (catalogue.isLoading) return <Loading label={texts.loadingImages} />;
  if (catalogue.error !== null) {
    return (
      <Alert color="red" m="md">
        <p className={classes.error}>{catalogue.error}</p>
        <Button size="xs" variant="default" onClick={catalogue.reload}>
          {texts.retry}
        </Button>
      </Alert>
    );
  }
  if (found.length === 0) {
    return <p className={classes.empty}>{groups.length === 0 ? texts.noImages : texts.noMatches}</p>;
  }
  const isSearching = found !== groups;
  // While searching everything found is open at first, and what is closed then is forgotten with the query.
  return (
    <GroupList
      key={isSearching ? deferredQuery : ''}
      groups={found}
      openAtFirst={isSearching ? 'all' : 'first'}
      {...rowProps}
    />
  );
}

interface GroupListProps extends Omit<ImageCatalogProps, 'catalogue'> {
  readonly groups: readonly DatasetGroup[];
  readonly openAtFirst: 'all' | 'first';
}

function GroupList({ groups, openAtFirst, selectedId, ...rowProps }: GroupListProps) {
  /** What the person has opened (true) or closed (false). */
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  return groups.map(({ name, entries }, place) => {
    const isOpen = chosen.get(name) ?? (openAtFirst === 'all' || place === 0);
    return (
      <section key={name} className={classes.group}>
        <h2 className={classes.groupTitle}>
          <button
            type="button"
            className={classes.groupButton}
            aria-expanded={isOpen}
            onClick={() => setChosen(new Map(chosen).set(name, !isOpen))}
          >
            <IconChevronRight className={classes.chevron} size={18} aria-hidden />
            <span className={classes.groupName}>{name}</span>{' '}
            <span className={classes.count}>
              {entries.length} <VisuallyHidden>{texts.images}</VisuallyHidden>
            </span>
          </button>
        </h2>
        {isOpen && (
          <ul className={classes.rows}>
            {entries.map((entry) => (
              <ImageRow
                key={entry.image.id}
                entry={entry}
                isSelected={entry.image.id === selectedId}
                {...rowProps}
              />
            ))}
          </ul>
        )}
      </section>
    );
  });
}
