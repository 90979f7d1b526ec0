import { Alert, Button, Kbd, TextInput, Title } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { memo, useCallback, useDeferredValue, useMemo, useRef } from 'react';
import { flushSync } from 'react-dom';
import type { Catalogue, CatalogueImage } from '../../api/images.ts';
import { useKeys } from '../../viewer/use-keys.ts';
import { CatalogueFilters } from './CatalogueFilters.tsx';
import { CatalogueList, type CatalogueListHandle } from './CatalogueList.tsx';
import { CatalogueSkeleton } from './CatalogueSkeleton.tsx';
import {
  choicesIn,
  type DatasetGroup,
  everything,
  groupByDataset,
  type ImageOrder,
  narrow,
  neighbourOf,
  type Wish,
  wishKey,
} from './catalogue.ts';
import { isOpenIn, rememberScroll, useCataloguePlace, withGroup } from './catalogue-place.ts';
import classes from './ImageCatalog.module.css';
import { texts } from './texts.ts';

interface ImageCatalogProps {
  readonly catalogue: Catalogue;
  readonly selectedId: string | null;
  readonly session: string | null;
  /** The mouse button is down on it; when it is let go the image is selected. */
  readonly onPress: (image: CatalogueImage) => void;
  readonly onSelect: (imageId: string) => void;
  readonly onThumbnailFailed: () => void;
  /** Somebody wants to search: the catalogue has to be in sight. */
  readonly onSearch: () => void;
}

/**
 * Every image one may look at, by dataset, with a search, filters and the keys to the next and previous one. Remembered:
 * what happens to the open slide is no reason to draw it anew.
 */
export const ImageCatalog = memo(function ImageCatalog(props: ImageCatalogProps) {
  const { catalogue, onSearch, ...listProps } = props;
  const { images, isLoading, error, reload } = catalogue;
  const { selectedId, onSelect } = listProps;
  const [place, setPlace] = useCataloguePlace();
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<CatalogueListHandle>(null);

  const { wish, order } = useDeferredValue(place);
  const groups = useMemo(() => groupByDataset(images, order), [images, order]);
  const shown = useMemo(() => narrow(groups, wish), [groups, wish]);
  const choices = useMemo(() => choicesIn(groups, wish), [groups, wish]);
  const isOpen = useCallback((group: DatasetGroup) => isOpenIn(place, wish, group), [place, wish]);
  const onToggle = useCallback(
    (group: DatasetGroup, opened: boolean) => setPlace((before) => withGroup(before, wish, group, opened)),
    [setPlace, wish],
  );

  const firstGroup = groups[0]?.key;
  // The first one after load: another that comes before it later does not take its place.
  if (place.firstGroup === null && firstGroup !== undefined)
    setPlace((before) => ({ ...before, firstGroup }));

  const setWish = (wished: Wish) => {
    rememberScroll(0);
    setPlace((before) => ({ ...before, wish: wished }));
  };
  const setOrder = (wished: ImageOrder) => {
    rememberScroll(0);
    setPlace((before) => ({ ...before, order: wished, firstGroup: null }));
  };

  const step = (by: 1 | -1) => {
    const next = neighbourOf(shown, selectedId, by);
    if (next === null) return;
    if (!isOpen(next.group)) onToggle(next.group, true);
    onSelect(next.image.id);
  };
  const goNext = () => step(1);
  const goBack = () => step(-1);
  const goSearch = () => {
    flushSync(onSearch);
    search.current?.focus();
    search.current?.select();
  };
  useKeys({ n: goNext, e: goNext, p: goBack, q: goBack, '/': goSearch });

  return (
    <>
      <div className={classes.head}>
        <Title order={1} size="h4">
          {texts.imageCatalog}
        </Title>
        <TextInput
          ref={search}
          type="search"
          placeholder={texts.searchPlaceholder}
          aria-label={texts.searchPlaceholder}
          aria-keyshortcuts="/"
          leftSection={<IconSearch size={18} aria-hidden />}
          rightSection={
            place.wish.query === '' && (
              <Kbd className={classes.searchKey ?? ''} aria-hidden>
                /
              </Kbd>
            )
          }
          rightSectionPointerEvents="none"
          value={place.wish.query}
          onChange={(event) => setWish({ ...place.wish, query: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'ArrowDown' || list.current === null) return;
            event.preventDefault();
            list.current.focus();
          }}
        />
        {error === null && (
          <CatalogueFilters
            {...choices}
            isLoading={isLoading}
            wish={place.wish}
            order={place.order}
            onWish={setWish}
            onOrder={setOrder}
            onClear={() => {
              setWish(everything);
              search.current?.focus(); // the button cannot keep the focus, having nothing left to clear
            }}
          />
        )}
      </div>
      {isLoading ? (
        <CatalogueSkeleton />
      ) : error !== null ? (
        <Alert color="red" m="md">
          <p className={classes.error}>{error}</p>
          <Button size="xs" variant="default" onClick={reload}>
            {texts.retry}
          </Button>
        </Alert>
      ) : shown.length === 0 ? (
        <p className={classes.empty}>{groups.length === 0 ? texts.noImages : texts.noMatches}</p>
      ) : (
        <CatalogueList
          ref={list}
          groups={shown}
          listKey={`${order}\n${wishKey(wish)}`}
          isOpen={isOpen}
          onToggle={onToggle}
          {...listProps}
        />
      )}
    </>
  );
});
