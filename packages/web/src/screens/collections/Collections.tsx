import { type Collection, may, type SavedView } from '@lamina/contract';
import { Badge, Button, Group, Text, TextInput, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { useAuth } from '../../api/auth-state.ts';
import { messageOf } from '../../api/client.ts';
import {
  addCollection,
  removeCollection,
  removeView,
  useCollections,
  useSavedViews,
} from '../../api/collections.ts';
import { makeShareLink } from '../../api/share-links.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { FormDialog } from '../../components/FormDialog.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { ShareDialog } from '../../components/ShareDialog.tsx';
import { useIsMounted } from '../../components/use-is-mounted.ts';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { announce } from '../../notifications/notify.ts';
import { slideFieldOf } from '../../viewer/tour/steps.ts';
import { formatField } from '../../viewer/view-address.ts';
import classes from './Collections.module.css';
import { texts } from './texts.ts';

type Dialog =
  | { readonly kind: 'new' }
  | {
      readonly kind: 'share' | 'delete';
      /** What is shared or deleted. */
      readonly type: 'collection' | 'view';
      readonly id: string;
      readonly title: string;
    };

/**
 * The screen with the collections (tours of slides with texts and questions) that the account owns or may read, and with the saved views
 * (named positions on slides) of the account.
 */
export function Collections() {
  const { user } = useAuth();
  const [dialog, setDialog] = useState<Dialog | null>(null);
  if (user === null) return null; // the route guard redirects to the sign-in
  const canCreate = may(user, 'sharing.own'); // the permission for collections, saved views and share links
  const close = () => setDialog(null);
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Title order={1}>{texts.heading}</Title>
        {canCreate && (
          <Button leftSection={<IconPlus size={18} aria-hidden />} onClick={() => setDialog({ kind: 'new' })}>
            {texts.newCollection}
          </Button>
        )}
      </Group>
      <Text c="dimmed" mb="lg">
        {canCreate ? texts.hint : texts.readerHint}
      </Text>
      <CollectionList canCreate={canCreate} onOpenDialog={setDialog} />
      {canCreate && <ViewList onOpenDialog={setDialog} />}
      {dialog?.kind === 'new' && <NewCollection onClose={close} />}
      {dialog?.kind === 'share' && (
        <ShareDialog
          heading={dialog.type === 'collection' ? texts.shareCollection : texts.shareView}
          target={{ type: dialog.type, id: dialog.id }}
          proposedTitle={dialog.title}
          languageBeforeChoice="tr" // language of the dialog until the user chooses one
          onCreate={makeShareLink}
          onClose={close}
        />
      )}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={texts.deleteHeading}
          confirmLabel={texts.delete}
          isDestructive
          onConfirm={async () => {
            const remove = dialog.type === 'collection' ? removeCollection : removeView;
            announce(await remove(dialog.id));
            close();
          }}
          onClose={close}
        >
          <Text>
            {dialog.type === 'collection'
              ? texts.deleteCollection(dialog.title)
              : texts.deleteView(dialog.title)}
          </Text>
        </ConfirmDialog>
      )}
    </>
  );
}

interface ListProps {
  readonly onOpenDialog: (dialog: Dialog) => void;
}

function CollectionList({ canCreate, onOpenDialog }: ListProps & { readonly canCreate: boolean }) {
  const collections = useCollections();
  if (collections.isPending) return <Loading label={texts.loading} />;
  if (collections.isLoadingError) {
    return (
      <LoadFailed
        message={messageOf(collections.error, texts.loadFailed)}
        onRetry={() => void collections.refetch()}
      />
    );
  }
  if (collections.data.length === 0) {
    return (
      <EmptyState
        title={texts.noCollections}
        hint={canCreate ? texts.noCollectionsHint : texts.noCollectionsReaderHint}
      />
    );
  }
  return (
    <ul className={classes.cards}>
      {collections.data.map((collection) => (
        <CollectionCard key={collection.id} collection={collection} onOpenDialog={onOpenDialog} />
      ))}
    </ul>
  );
}

function CollectionCard({ collection, onOpenDialog }: ListProps & { readonly collection: Collection }) {
  const { id, title, description, items, own: isOwn, owner_name: ownerName, readers } = collection;
  const readersText = texts.readersOf(readers === 'members' ? 'members' : readers.length);
  const hasQuestions = items.some(({ question }) => question !== null);
  const dialogTarget = { type: 'collection', id, title } as const;
  return (
    <li className={classes.card}>
      <div className={classes.cardText}>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {[
            texts.itemCount(items.length),
            isOwn ? readersText : (ownerName ?? ''),
            texts.changedAt(formatDateAndTime(collection.updated_at)),
          ]
            .filter(Boolean)
            .join(' · ')}
        </Text>
        {description !== null && <p className={classes.description}>{description}</p>}
        {hasQuestions && <Badge variant="light">{texts.hasQuestions}</Badge>}
      </div>
      <Group gap="xs">
        {items.length === 0 ? (
          // Not a link: a disabled link looks disabled, but the Enter key still opens it.
          <Button size="xs" disabled aria-label={texts.openOf(title)}>
            {texts.open}
          </Button>
        ) : (
          <Button component={Link} to={`/collections/${id}`} size="xs" aria-label={texts.openOf(title)}>
            {texts.open}
          </Button>
        )}
        {isOwn && (
          <>
            <Button
              component={Link}
              to={`/collections/${id}/edit`}
              size="xs"
              variant="default"
              aria-label={texts.editOf(title)}
            >
              {texts.edit}
            </Button>
            <Button
              size="xs"
              variant="default"
              aria-label={texts.shareOf(title)}
              onClick={() => onOpenDialog({ kind: 'share', ...dialogTarget })}
            >
              {texts.share}
            </Button>
            {hasQuestions && (
              <Button
                component={Link}
                to={`/collections/${id}/answers`}
                size="xs"
                variant="default"
                aria-label={texts.answersOf(title)}
              >
                {texts.answers}
              </Button>
            )}
            <Button
              size="xs"
              variant="subtle"
              color="eosin" // the theme's rose, named after the stain
              aria-label={texts.deleteOf(title)}
              onClick={() => onOpenDialog({ kind: 'delete', ...dialogTarget })}
            >
              {texts.delete}
            </Button>
          </>
        )}
      </Group>
    </li>
  );
}

function ViewList({ onOpenDialog }: ListProps) {
  const views = useSavedViews();
  return (
    <section aria-label={texts.views}>
      <Title order={2} mt="xl" mb="sm">
        {texts.views}
      </Title>
      {views.isPending && <Loading label={texts.loading} />}
      {views.isLoadingError && (
        <LoadFailed message={messageOf(views.error, texts.loadFailed)} onRetry={() => void views.refetch()} />
      )}
      {views.data?.length === 0 && <EmptyState title={texts.noViews} hint={texts.noViewsHint} />}
      {views.data !== undefined && views.data.length > 0 && (
        <ul className={classes.cards}>
          {views.data.map((view) => (
            <ViewCard key={view.id} view={view} onOpenDialog={onOpenDialog} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ViewCard({ view, onOpenDialog }: ListProps & { readonly view: SavedView }) {
  const { id, title, text, image_id: imageId, field } = view;
  const dialogTarget = { type: 'view', id, title } as const;
  // The viewer opens at `field`, the part of the slide that the view shows: `formatField` returns it as query parameters.
  const viewerQuery = new URLSearchParams({ image: imageId, ...formatField(slideFieldOf(field)) });
  return (
    <li className={classes.card}>
      <div className={classes.cardText}>
        <Title order={3} size="h5">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {texts.changedAt(formatDateAndTime(view.updated_at))}
        </Text>
        {text !== null && <p className={classes.description}>{text}</p>}
      </div>
      <Group gap="xs">
        <Button
          component={Link}
          to={{ pathname: '/wsi-viewer', search: `${viewerQuery}` }}
          size="xs"
          variant="default"
          aria-label={texts.openOf(title)}
        >
          {texts.open}
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={texts.shareOf(title)}
          onClick={() => onOpenDialog({ kind: 'share', ...dialogTarget })}
        >
          {texts.share}
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="eosin"
          aria-label={texts.deleteOf(title)}
          onClick={() => onOpenDialog({ kind: 'delete', ...dialogTarget })}
        >
          {texts.delete}
        </Button>
      </Group>
    </li>
  );
}

function NewCollection({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const [title, setTitle] = useState('');
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function create() {
    if (title.trim() === '') return setError(texts.titleRequired);
    setRunning(true);
    const result = await addCollection(title.trim());
    setRunning(false);
    if ('error' in result) return setError(result.error);
    if (isMounted()) await navigate(`/collections/${result.id}/edit`);
  }

  return (
    <FormDialog
      title={texts.newCollection}
      submitLabel={texts.create}
      isRunning={isRunning}
      onSubmit={() => void create()}
      onClose={onClose}
    >
      <TextInput
        label={texts.title}
        value={title}
        maxLength={200} // the limit of the API
        error={error}
        data-autofocus
        onChange={({ currentTarget }) => setTitle(currentTarget.value)}
      />
    </FormDialog>
  );
}
